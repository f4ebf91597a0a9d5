// choose_cpus: chooses cpus for the writer thread on which it disturbs the computation least.
//
// Reads /sys about the machine, and /proc about the process's own threads and the load. Chooses once, at the start;
// the group of threads that runs there may leave it later (base/sync/cpu_group.hpp).
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "base/sync/cpu_group.hpp"
#include "model/config/settings.hpp"

namespace tailrace::impl {

struct CpuSet {
  std::vector<int> cpus = {};  // empty: any
  std::string reason = {};     // "cpu 1, the SMT sibling of cpu 0": for logs
  std::vector<int> away = {};  // where to run instead while others want `cpus`; empty: stay
  bool begins_away = false;    // no cpu is idle now
};

// `automatic` selects the SMT sibling of the calling thread's core, else an allowed cpu on which no thread of this
// process runs (spread over clients by `client`), else none. While others want that cpu, the writer leaves it for all
// that the caller may use. `list` selects the given cpus that this process may use; the writer never leaves them.
CpuSet choose_cpus(CpuChoice choice, const std::vector<int>& list, int client);

// Makes the group of the writer and its helpers; null: they run anywhere. Borrows `log`.
std::shared_ptr<CpuGroup> group_of(const CpuSet& cpus, Log& log);

}  // namespace tailrace::impl
