// AvailableMemory: how much memory this process can get, according to the machine and to the control groups of the
// process (as containers and batch systems set them).
//
// The system promises more memory than it has, and kills a process that uses too much. A caller that asks here first
// can report an error instead. The result is an estimate for this moment; nothing is reserved.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"

namespace tailrace::impl {

struct AvailableMemory {
  uint64_t bytes = UINT64_MAX;  // memory and swap, including what the system can free at once
  std::string of;               // the limit's owner: "this machine", "the control group '/job'"
};

// `root` is prepended to the paths of the system's files, for tests.
AvailableMemory available_memory(const std::string& root = "");

// Returns TAILRACE_OUT_OF_MEMORY, with the sizes, if a budget of `bytes` is not available now. `promised`: bytes that
// others have been promised and have not taken yet.
Status check_available(uint64_t bytes, uint64_t promised = 0);

}  // namespace tailrace::impl
