// A run: processes that compute and write in turn, all at once, as a simulation's do. In each iteration all meet,
// write, and meet again, so that the slowest holds up all; each one's output is timed separately.
#pragma once

#include <string>

#include "lab/core/options.hpp"

namespace bench::core {

// Forks the processes, waits for them, and returns the JSON document. Throws RunError with the message of the first
// that failed.
std::string run(const RunOptions& options);

}  // namespace bench::core
