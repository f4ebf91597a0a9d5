#include "runtime/parts/provenance.hpp"

#include <fmt/chrono.h>
#include <fmt/format.h>
#include <sys/random.h>
#include <unistd.h>

#include <ctime>

#include "base/assert.hpp"

namespace tailrace::impl {

std::string date_now() { return fmt::format("{:%Y-%m-%d %H:%M:%S} +0000", fmt::gmtime(std::time(nullptr))); }

std::string new_run() {
  unsigned char bytes[16] = {};
  // The system returns up to 256 bytes at once, after it has started.
  TAILRACE_REQUIRE(::getrandom(bytes, sizeof bytes, 0) == sizeof bytes);
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
  std::string text;
  for (size_t at = 0; at < sizeof bytes; ++at) {
    if (at == 4 || at == 6 || at == 8 || at == 10) text += '-';
    text += fmt::format("{:02x}", bytes[at]);
  }
  return text;
}

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
