// Shows on standard error, on a terminal, what is being done.
#pragma once

#include <cstddef>
#include <string_view>

namespace tailrace::impl {

// One line, which is drawn over, and removed at the end. Draws with carriage returns and blanks alone, as notebooks
// know nothing else. For one thread.
class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine();

  // Shows `text`: its beginning, if the line is too narrow.
  void show(std::string_view text);

 private:
  const bool watched_;
  size_t drawn_ = 0;  // characters
};

}  // namespace tailrace::impl
