// ThreadsOfProcess: the threads of this process as the kernel reports them, for tests of what the back ends' threads
// may do.
#pragma once

#include <sched.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <vector>

#include "base/sync/cpu_group.hpp"

namespace tailrace::impl {

struct ThreadOfProcess {
  std::string name;
  std::string cpus;              // "0-1"
  uint64_t signals_blocked = 0;  // bit n - 1: signal n
};

inline std::vector<ThreadOfProcess> threads_of_process() {
  std::vector<ThreadOfProcess> threads;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task")) {
    ThreadOfProcess thread;
    std::ifstream status(entry.path() / "status");
    for (std::string key, value; status >> key && std::getline(status >> std::ws, value);) {
      if (key == "Name:") thread.name = value;
      if (key == "Cpus_allowed_list:") thread.cpus = value;
      if (key == "SigBlk:") thread.signals_blocked = std::strtoull(value.c_str(), nullptr, 16);
    }
    threads.push_back(thread);
  }
  return threads;
}

// Returns the last CPU that this thread may run on.
inline int last_allowed_cpu() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return -1;
  int last = -1;
  for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
    if (CPU_ISSET(static_cast<size_t>(cpu), &set)) last = cpu;
  }
  return last;
}

// Returns the group of threads that runs on one CPU.
inline std::shared_ptr<CpuGroup> only(int cpu) { return std::make_shared<CpuGroup>(std::vector<int>{cpu}); }

}  // namespace tailrace::impl
