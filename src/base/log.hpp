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

  template <class... Args>
  void info(fmt::format_string<Args...> format, Args&&... args) {
    put(LogLevel::info, fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void warning(fmt::format_string<Args...> format, Args&&... args) {
    put(LogLevel::warning, fmt::format(format, std::forward<Args>(args)...));
  }
  template <class... Args>
  void error(fmt::format_string<Args...> format, Args&&... args) {
    put(LogLevel::error, fmt::format(format, std::forward<Args>(args)...));
  }
};

// A log that prints messages from `level` up to the file `path`, or to stderr if `path` is empty. `who` is set
// before each line ("tailrace cm1/0").
Result<std::unique_ptr<Log>> open_log(LogLevel level, const std::string& path, const std::string& who);

}  // namespace tailrace::impl
