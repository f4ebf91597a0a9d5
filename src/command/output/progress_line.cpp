#include "command/output/progress_line.hpp"

#include <unistd.h>

#include <cstdio>
#include <string>

#include "command/output/output.hpp"

namespace tailrace::impl {
namespace {

// The terminal may have gone.
void draw(const std::string& text) { std::fputs(text.c_str(), stderr); }

}  // namespace

ProgressLine::ProgressLine() : watched_(isatty(STDERR_FILENO) == 1) {}

ProgressLine::~ProgressLine() {
  if (drawn_ > 0) draw("\r" + std::string(drawn_, ' ') + "\r");
}

void ProgressLine::show(std::string_view text) {
  if (!watched_) return;
  const std::string line = beginning(printable_line(text), terminal_width(STDERR_FILENO) - 1);
  const size_t width = width_of(line);
  draw("\r" + line + std::string(drawn_ > width ? drawn_ - width : 0, ' '));
  drawn_ = width;
}

}  // namespace tailrace::impl
