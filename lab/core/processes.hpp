// The processes of a run: forked, like a simulation's ranks, and waited for.
#pragma once

#include <functional>

namespace bench::core {

// Forks `count` processes; each calls `work` with its number, and ends. Returns when all have ended. If one fails,
// ends the others, which would wait for it, and throws RunError with the message of the first that failed.
void in_processes(int count, const std::function<void(int)>& work);

}  // namespace bench::core
