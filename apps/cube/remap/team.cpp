#include "cube/remap/team.hpp"

#include <sched.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace tailrace::cube {

void run_team(unsigned threads, const std::function<void(unsigned thread)>& work) {
  std::mutex mutex;  // guards `first`
  std::exception_ptr first;
  const auto guarded = [&](unsigned thread) {
    try {
      work(thread);
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!first) first = std::current_exception();
    }
  };
  std::vector<std::jthread> team;
  for (unsigned thread = 0; thread < threads; ++thread) team.emplace_back(guarded, thread);
  team.clear();
  if (first) std::rethrow_exception(first);
}

unsigned usable_cpus() {
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  return std::max(1, CPU_COUNT(&set));
}

}  // namespace tailrace::cube
