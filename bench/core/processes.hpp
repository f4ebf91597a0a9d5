// The processes of a run: forked, so that they are as a simulation's ranks are, and waited for.
#pragma once

#include <functional>

namespace bench::core {

// Forks `count` processes; each does `work` with its number, and ends. Returns when all have; throws RunError with
// what the first one that failed said, after it has ended the others, which would wait for it.
void in_processes(int count, const std::function<void(int)>& work);

}  // namespace bench::core
