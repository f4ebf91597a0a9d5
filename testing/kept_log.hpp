// KeptLog: a log that keeps its messages. Any thread.
#pragma once

#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/log.hpp"

namespace tailrace::impl {

class KeptLog final : public Log {
 public:
  void put(LogLevel level, std::string_view message) override {
    const std::lock_guard lock(mutex_);
    lines_.emplace_back(level, message);
  }
  std::vector<std::pair<LogLevel, std::string>> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }
  // Returns the lines without their levels, from `least` on …
  std::vector<std::string> texts(LogLevel least = LogLevel::info) const {
    std::vector<std::string> all;
    for (const auto& [level, line] : lines()) {
      if (level >= least) all.push_back(line);
    }
    return all;
  }
  bool has(std::string_view part) const {
    for (const std::string& line : texts()) {
      if (line.find(part) != std::string::npos) return true;
    }
    return false;
  }
  // … the warnings and errors …
  std::vector<std::string> complaints() const { return texts(LogLevel::warning); }
  // … as one text, a line each.
  std::string text() const {
    std::string all;
    for (const std::string& line : complaints()) all += line + "\n";
    return all;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<LogLevel, std::string>> lines_;  // guarded by mutex_
};

}  // namespace tailrace::impl
