// Log: warnings for users, information for the curious. Passed in, never global.
//
// Never used on the per-request path. Messages are whole sentences that contain the values.
#pragma once

#include <fmt/format.h>

#include <memory>
#include <string>
#include <string_view>

#include "base/status.hpp"

namespace tailrace::impl {

enum class LogLevel { info, warning, error, off };

class Log {
 public:
  virtual ~Log() = default;
  // Logs a message. Any thread.
  virtual void put(LogLevel level, std::string_view message) = 0;
  // Logs a message of a kind that may occur too often (LimitedLog). `kind` is a literal.
  virtual void put_of_kind(LogLevel level, std::string_view kind, std::string_view message) {
    (void)kind;
    put(level, message);
  }
  // Returns a log for the messages about one of many objects, such as one client. A log that limits messages limits
  // each part separately. The part borrows this log.
  virtual std::unique_ptr<Log> part();

  // The format serves as the kind.
  template <class... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) {
    put_of_kind(LogLevel::info, kind_of(format), fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void warning(fmt::format_string<Args...> format, Args&&... args) {
    put_of_kind(LogLevel::warning, kind_of(format), fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) {
    put_of_kind(LogLevel::error, kind_of(format), fmt::format(format, std::forward<Args>(args)...));
  }

 private:
  static std::string_view kind_of(fmt::string_view format) { return {format.data(), format.size()}; }
};

// Opens a log that prints messages from `level` up to the file `path`, or to stderr if `path` is empty. Each line
// begins with `who` ("tailrace cm1/0").
Result<std::unique_ptr<Log>> open_log(LogLevel level, const std::string& path, const std::string& who);

}  // namespace tailrace::impl
