// Draws the bar. See the header.
#include "progress.hpp"

#include <unistd.h>

#include <cstdio>

namespace tsunami {
namespace {

constexpr int width = 40;
constexpr double kInterval = 0.1;  // seconds

}  // namespace

Progress::Progress(bool wanted, bool quiet, long steps, std::string label)
    : on_(!quiet && (wanted || ::isatty(STDERR_FILENO) == 1)), steps_(steps), label_(std::move(label)) {}

void Progress::show(long step) {
  if (!on_) return;
  const double now = watch_.seconds();
  if (drawn_ >= 0 && now - drawn_ < kInterval) return;
  drawn_ = now;
  draw(step);
}

void Progress::finish() {
  if (!on_) return;
  draw(steps_);
  std::fputc('\n', stderr);
}

void Progress::draw(long step) const {
  const int filled = static_cast<int>(width * step / steps_);
  std::string bar(static_cast<std::size_t>(filled), '#');
  bar.resize(width, '.');
  std::fprintf(stderr, "\r%-8s [%s] %3ld %%  step %ld of %ld  %.1f s ", label_.c_str(), bar.c_str(),
               100 * step / steps_, step, steps_, watch_.seconds());
  std::fflush(stderr);
}

}  // namespace tsunami
