// now(): the clock for all times of the pattern program, CLOCK_MONOTONIC in seconds.
//
// The library's own trace uses the same clock, so the two can be combined.
#pragma once

#include <ctime>

namespace bench {

inline double now() {
  timespec time{};
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace bench
