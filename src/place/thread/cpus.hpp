// On which cpu the writer thread runs: where it disturbs the computation least.
//
// Asks /sys for the machine and /proc for the process's own threads. Decides once, at start.
#pragma once

#include <string>
#include <vector>

#include "model/config.hpp"

namespace tailrace::impl {

struct CpuSet {
  std::vector<int> cpus;  // empty: wherever the system likes
  std::string reason;     // "cpu 1, the SMT sibling of cpu 0": for logs
};

// `automatic` takes the SMT sibling of the calling thread's core, else an allowed cpu on which no thread of this
// process runs (spread over clients by `client`), else none. `list` takes what is given, as far as it exists.
CpuSet choose_cpus(CpuChoice choice, const std::vector<int>& list, int client);

// Binds the calling thread. Returns false if the system refuses.
bool bind_thread(const CpuSet& cpus);

}  // namespace tailrace::impl
