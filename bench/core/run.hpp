// A run: processes that compute and write in turns, all at once, as a simulation's do. Each iteration all meet,
// write, and meet again, so that the slowest holds all up; what each one's output took is timed by itself.
#pragma once

#include <string>

#include "bench/core/options.hpp"

namespace bench::core {

// Forks the processes, waits for them; the JSON document. Throws RunError: what the first one that failed said.
std::string run(const RunOptions& options);

}  // namespace bench::core
