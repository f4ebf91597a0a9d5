// bind_thread: keeps the calling thread to some cpus.
#pragma once

#include <sched.h>

#include <span>

namespace tailrace::impl {

// Returns false if the system refuses: the thread then runs on any cpu that it may. Without cpus, does nothing.
inline bool bind_thread(std::span<const int> cpus) {
  if (cpus.empty()) return true;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus) {
    if (cpu >= 0 && cpu < CPU_SETSIZE) CPU_SET(static_cast<size_t>(cpu), &set);
  }
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace tailrace::impl
