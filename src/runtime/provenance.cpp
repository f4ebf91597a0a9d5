#include "runtime/provenance.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <unistd.h>

#include <ctime>

namespace tailrace::impl {

std::string date_now() { return fmt::format("{:%Y-%m-%d %H:%M:%S} +0000", fmt::gmtime(std::time(nullptr))); }

std::string machine_name() {
  char name[256] = {};
  return gethostname(name, sizeof name - 1) == 0 ? name : "unknown";
}

LogLevel log_level_of(const std::string& name) {
  if (name == "info") return LogLevel::info;
  if (name == "error") return LogLevel::error;
  if (name == "off") return LogLevel::off;
  return LogLevel::warning;
}

}  // namespace tailrace::impl
