#include "command/output/progress_line.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "command/output/output.hpp"

namespace tailrace::impl {

ProgressLine::ProgressLine() : watched_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (drawn_ > 0) fmt::print(stderr, "\r{}\r", std::string(drawn_, ' '));
}

void ProgressLine::show(std::string_view text) {
  if (!watched_) return;
  const std::string line = beginning(printable_line(text), terminal_width(STDERR_FILENO) - 1);
  const size_t width = width_of(line);
  fmt::print(stderr, "\r{}{}", line, std::string(drawn_ > width ? drawn_ - width : 0, ' '));
  std::fflush(stderr);
  drawn_ = width;
}

}  // namespace tailrace::impl
