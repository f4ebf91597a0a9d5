// choose_cpus: chooses cpus for the writer thread on which it disturbs the computation least.
//
// Reads /sys about the machine and /proc about the process's own threads. Chooses once, at the start.
#pragma once

#include <string>
#include <vector>

#include "model/config/settings.hpp"

namespace tailrace::impl {

struct CpuSet {
  std::vector<int> cpus;  // empty: any
  std::string reason;     // "cpu 1, the SMT sibling of cpu 0": for logs
};

// `automatic` selects the SMT sibling of the calling thread's core, else an allowed cpu on which no thread of this
// process runs (spread over clients by `client`), else none. `list` selects the given cpus that this
// process may use.
CpuSet choose_cpus(CpuChoice choice, const std::vector<int>& list, int client);

}  // namespace tailrace::impl
