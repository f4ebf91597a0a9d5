#include "place/thread/cpus.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <hwloc.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

struct FreeTopology {
  void operator()(hwloc_topology* topology) const { hwloc_topology_destroy(topology); }
};
using Topology = std::unique_ptr<hwloc_topology, FreeTopology>;

Topology load_topology() {
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return nullptr;
  Topology owned(topology);
  return hwloc_topology_load(topology) == 0 ? std::move(owned) : nullptr;
}

// Cpus of the same core as `cpu`, without it.
std::vector<int> siblings_of(hwloc_topology_t topology, int cpu) {
  std::vector<int> siblings;
  const hwloc_obj_t unit = hwloc_get_pu_obj_by_os_index(topology, static_cast<unsigned>(cpu));
  const hwloc_obj_t core = unit ? hwloc_get_ancestor_obj_by_type(topology, HWLOC_OBJ_CORE, unit) : nullptr;
  if (core == nullptr) return siblings;
  unsigned index = 0;
  hwloc_bitmap_foreach_begin(index, core->cpuset) {
    const bool allowed = hwloc_bitmap_isset(hwloc_topology_get_allowed_cpuset(topology), index) != 0;
    if (allowed && static_cast<int>(index) != cpu) siblings.push_back(static_cast<int>(index));
  }
  hwloc_bitmap_foreach_end();
  return siblings;
}

std::vector<int> cpus_of_caller() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> cpus;
  if (sched_getaffinity(0, sizeof set, &set) != 0) return cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu) {
    if (CPU_ISSET(cpu, &set)) cpus.push_back(cpu);
  }
  return cpus;
}

// The cpu that each other thread of this process last ran on, if the thread has computed at all: field 39 of its
// stat, with the time in user mode in field 14 (proc(5)). The calling thread is left out: it moves while it asks.
std::vector<int> cpus_others_compute_on() {
  const std::string self = std::to_string(gettid());
  std::vector<int> cpus;
  std::error_code ignored;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task", ignored)) {
    if (task.path().filename() == self) continue;
    std::ifstream file(task.path() / "stat");
    std::string line;
    std::getline(file, line);
    const size_t name_end = line.rfind(')');
    if (name_end == std::string::npos) continue;
    std::istringstream fields(line.substr(name_end + 1));
    std::vector<std::string> values;
    for (std::string value; fields >> value;) values.push_back(value);
    if (values.size() < 37) continue;
    const long user_ticks = std::stol(values[11]);
    if (user_ticks > 0) cpus.push_back(std::stoi(values[36]));
  }
  return cpus;
}

CpuSet choose_automatically(int client) {
  const int here = sched_getcpu();
  const Topology topology = load_topology();
  if (topology != nullptr && here >= 0) {
    const std::vector<int> siblings = siblings_of(topology.get(), here);
    if (!siblings.empty()) {
      return {{siblings.front()},
              fmt::format("cpu {}, the SMT sibling of the caller's cpu {}", siblings.front(), here)};
    }
  }
  const std::vector<int> computing = cpus_others_compute_on();
  std::vector<int> spare;
  for (const int cpu : cpus_of_caller()) {
    if (cpu != here && std::find(computing.begin(), computing.end(), cpu) == computing.end()) spare.push_back(cpu);
  }
  if (spare.empty()) return {{}, "not pinned: every allowed cpu is computed on"};
  const int cpu = spare[spare.size() - 1 - static_cast<size_t>(client) % spare.size()];
  return {{cpu}, fmt::format("cpu {}, allowed and not computed on (the caller is on cpu {})", cpu, here)};
}

CpuSet choose_listed(const std::vector<int>& list) {
  CpuSet chosen;
  for (const int cpu : list) {
    if (cpu >= 0 && cpu < CPU_SETSIZE) chosen.cpus.push_back(cpu);
  }
  chosen.reason = fmt::format("cpus {}, as configured", fmt::join(list, ", "));
  return chosen;
}

}  // namespace

CpuSet choose_cpus(CpuChoice choice, const std::vector<int>& list, int client) {
  switch (choice) {
    case CpuChoice::automatic: return choose_automatically(client);
    case CpuChoice::list: return choose_listed(list);
    case CpuChoice::none: return {{}, "not pinned, as configured"};
  }
  TAILRACE_ASSERT(false);
}

bool bind_thread(const CpuSet& cpus) {
  if (cpus.cpus.empty()) return true;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int cpu : cpus.cpus) CPU_SET(cpu, &set);
  return sched_setaffinity(0, sizeof set, &set) == 0;
}

}  // namespace tailrace::impl
