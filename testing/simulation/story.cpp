#include "testing/simulation/story.hpp"

#include <unistd.h>

#include <cstdio>

namespace tailrace::impl::simulation {

void Story::say(const std::string& line) {
  const Nanoseconds now = clock_ != nullptr ? clock_->now() : Nanoseconds::zero();
  std::printf("%12.3f us  %s\n", static_cast<double>(now.count()) / 1000.0, line.c_str());
}

// _exit: this may be the stack of a fiber, and the system frees everything.
void Story::fail(std::string_view checker, const std::string& what) {
  if (aloud_) say("FAILED");
  std::fflush(stdout);
  std::fprintf(stderr, "checker %.*s: %s\n", static_cast<int>(checker.size()), checker.data(), what.c_str());
  std::fflush(stderr);
  _exit(kFoundSomething);
}

}  // namespace tailrace::impl::simulation
