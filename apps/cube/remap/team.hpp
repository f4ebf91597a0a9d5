// A team of threads that work together.
#pragma once

#include <functional>

namespace tailrace::cube {

// Calls `work` on `threads` new threads at once, with their numbers, and waits for all of them. The first exception
// of any is thrown again.
void run_team(unsigned threads, const std::function<void(unsigned thread)>& work);

// Returns the cpus on which this process may run.
unsigned usable_cpus();

}  // namespace tailrace::cube
