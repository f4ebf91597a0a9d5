// AvailableMemory: how much memory this process can have, by what the system says of the machine and of the control
// groups that the process is in (as containers and batch systems have them).
//
// The system promises more than there is, and ends a process when it is used. Who asks here first can say so instead.
// The answer is as of now, and an estimate: nothing is reserved.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"

namespace tailrace::impl {

struct AvailableMemory {
  uint64_t bytes = UINT64_MAX;  // memory and swap, what the system can free at once included
  std::string of;               // whose limit that is: "this machine", "the control group '/job'"
};

// `root`: before the paths of the system's files, for tests.
AvailableMemory available_memory(const std::string& root = "");

// Returns TAILRACE_OUT_OF_MEMORY, with both sizes, if a budget of so many bytes cannot be had now.
Status check_available(uint64_t bytes);

}  // namespace tailrace::impl
