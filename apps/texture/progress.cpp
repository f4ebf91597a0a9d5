#include "progress.hpp"

#include <unistd.h>

#include <cstdio>

namespace texture {

Progress::Progress(bool wanted, int rank, long planes)
    : on_(rank == 0 && (wanted || ::isatty(STDERR_FILENO) == 1)), planes_(planes) {}

void Progress::show(long done) {
  if (!on_) return;
  const Clock::time_point now = Clock::now();
  if (done < planes_ && drawn_ && now - *drawn_ < std::chrono::milliseconds(100)) return;
  drawn_ = now;
  std::fprintf(stderr, "\rtexture: %ld of %ld planes, %.1f s ", done, planes_,
               std::chrono::duration<double>(now - start_).count());
  std::fflush(stderr);
}

void Progress::finish() {
  if (on_) std::fputc('\n', stderr);
}

}  // namespace texture
