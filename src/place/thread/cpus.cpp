#include "place/thread/cpus.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "base/assert.hpp"
#include "base/sync/bind_thread.hpp"
#include "place/busy_cpus.hpp"

namespace tailrace::impl {
namespace {

// Returns all cpus that the system lets this process use, not only those that the caller is bound to. Restores the
// caller's binding.
std::vector<int> cpus_of_process() {
  cpu_set_t before;
  cpu_set_t all;
  CPU_ZERO(&all);
  for (size_t cpu = 0; cpu < CPU_SETSIZE; ++cpu) CPU_SET(cpu, &all);
  if (sched_getaffinity(0, sizeof before, &before) != 0) return {};
  if (sched_setaffinity(0, sizeof all, &all) != 0) return cpus_of_thread();
  std::vector<int> cpus = cpus_of_thread();
  sched_setaffinity(0, sizeof before, &before);
  return cpus;
}

// Returns the other cpus of the core of `cpu`; none if the system does not report them.
std::vector<int> siblings_of(int cpu) {
  std::ifstream file(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
  std::vector<int> siblings;
  int first = 0;
  for (char mark = ','; mark == ',' && file >> first; file.get(mark)) {  // "0,4" or "0-1"
    int last = first;
    if (file.peek() == '-') file.ignore() >> last;
    for (int sibling = first; sibling <= last; ++sibling) {
      if (sibling != cpu) siblings.push_back(sibling);
    }
  }
  return siblings;
}

// Returns the cpus that other threads of this process last ran on, if they have computed at all: field 39 of stat,
// with the time in user mode in field 14 (proc(5)). Omits the calling thread, which moves while it asks.
std::vector<int> cpus_others_compute_on() {
  const std::string self = std::to_string(syscall(SYS_gettid));
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

// Lets the writer leave its cpu for those of the caller while others want it, at once if none is idle.
CpuSet leavable(int cpu, std::string reason) {
  CpuSet chosen{{cpu}, std::move(reason), cpus_of_thread(), every_cpu_is_busy()};
  if (std::find(chosen.away.begin(), chosen.away.end(), cpu) == chosen.away.end()) chosen.away.push_back(cpu);
  if (chosen.begins_away) chosen.reason += ", but not yet: every cpu is busy";
  return chosen;
}

CpuSet choose_automatically(int client) {
  const int here = sched_getcpu();
  const std::vector<int> siblings = siblings_of(here);
  const std::vector<int> allowed = siblings.empty() ? siblings : cpus_of_process();
  for (const int sibling : siblings) {
    if (std::find(allowed.begin(), allowed.end(), sibling) == allowed.end()) continue;
    return leavable(sibling, fmt::format("cpu {}, the SMT sibling of the caller's cpu {}", sibling, here));
  }
  const std::vector<int> computing = cpus_others_compute_on();
  std::vector<int> spare;
  for (const int cpu : cpus_of_thread()) {
    if (cpu != here && std::find(computing.begin(), computing.end(), cpu) == computing.end()) spare.push_back(cpu);
  }
  if (spare.empty()) return {{}, "not pinned: every allowed cpu is computed on"};
  const int cpu = spare[spare.size() - 1 - static_cast<size_t>(client) % spare.size()];
  return leavable(cpu, fmt::format("cpu {}, allowed and not computed on (the caller is on cpu {})", cpu, here));
}

CpuSet choose_listed(const std::vector<int>& list) {
  const std::vector<int> allowed = cpus_of_process();
  CpuSet chosen;
  for (const int cpu : list) {
    if (std::find(allowed.begin(), allowed.end(), cpu) != allowed.end()) chosen.cpus.push_back(cpu);
  }
  chosen.reason = chosen.cpus.empty()
                      ? fmt::format(
                            "not pinned: place.cpus: found {}, expected one or more of the cpus that this "
                            "process may use: {}",
                            fmt::join(list, ", "), fmt::join(allowed, ", "))
                      : fmt::format("cpus {}, as configured", fmt::join(list, ", "));
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

std::shared_ptr<CpuGroup> group_of(const CpuSet& cpus, Log& log) {
  if (cpus.cpus.empty()) return nullptr;
  return std::make_shared<CpuGroup>(
      CpuGroup::Options{.cpus = cpus.cpus, .away = cpus.away, .begins_away = cpus.begins_away, .log = &log});
}

}  // namespace tailrace::impl
