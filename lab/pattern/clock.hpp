// now(): the clock for all times of the pattern program, CLOCK_MONOTONIC in seconds. cpu_now(): a thread's own time.
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

// Returns how long the calling thread has run, in seconds: without the time in which others had its cpu.
inline double cpu_now() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

}  // namespace bench
