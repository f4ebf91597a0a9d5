#include "place/core/server_cpu.hpp"

#include <sched.h>

#include <algorithm>
#include <cstddef>

#include "base/sync/bind_thread.hpp"

namespace tailrace::impl {
namespace {

// Returns all cpus that the system lets this process use, not only those that its parent was bound to.
std::vector<int> all_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
  return cpus_of_thread();
}

}  // namespace

ServerCpus bind_server(CpuChoice choice, const std::vector<int>& list, int server) {
  const std::vector<int> all = all_cpus();
  std::vector<int> candidates = choice == CpuChoice::list ? list : all;
  if (choice == CpuChoice::none) return {};
  const sched_param priority{};
  sched_setscheduler(0, SCHED_BATCH, &priority);  // best effort
  if (all.size() < 2) return {};
  if (choice == CpuChoice::list) {
    std::erase_if(candidates, [&](int cpu) { return std::find(all.begin(), all.end(), cpu) == all.end(); });
  } else {
    std::reverse(candidates.begin(), candidates.end());
  }
  if (candidates.empty()) return {};
  const std::vector<int> chosen = {candidates[static_cast<size_t>(server) % candidates.size()]};
  if (!bind_thread(chosen)) return {};
  return {chosen, choice == CpuChoice::automatic ? all : std::vector<int>{}};
}

}  // namespace tailrace::impl
