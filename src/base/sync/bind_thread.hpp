// bind_thread, cpus_of_thread: where the calling thread runs.
#pragma once

#include <sched.h>

#include <cstddef>
#include <span>
#include <vector>

namespace tailrace::impl {

// Returns the cpus on which the thread may run; none if the system does not tell.
inline std::vector<int> cpus_of_thread() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(static_cast<int>(cpu));
  }
  return cpus;
}

// Keeps the thread to some cpus. Returns false if the system refuses: it then runs on any cpu that it may. Without
// cpus, does nothing.
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
