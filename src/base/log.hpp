// The log: warnings for users, information for the curious. Passed in, never global.
//
// Never on the per-request path. Messages are whole sentences with the values in them.
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
  // Any thread.
  virtual void put(LogLevel level, std::string_view message) = 0;
  // Does the same for a message of a kind that could be logged too often (LimitedLog). `kind` is a literal.
  virtual void put_of_kind(LogLevel level, std::string_view kind, std::string_view message) {
    (void)kind;
    put(level, message);
  }
  // A log for what is said of one of many, a client say: whoever limits what is said limits each by itself. It
  // borrows this one.
  virtual std::unique_ptr<Log> part();

  // The format is the kind.
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

// A log that prints messages from `level` up to the file `path`, or to stderr if `path` is empty. `who` is set
// before each line ("tailrace cm1/0").
Result<std::unique_ptr<Log>> open_log(LogLevel level, const std::string& path, const std::string& who);

}  // namespace tailrace::impl
