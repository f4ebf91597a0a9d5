// Which cpus a measurement runs on.
#pragma once

namespace bench::core {

// Leaves the last cpu that this process may use to the server, which binds itself to it; with a single one, nothing
// is done. Processes and threads started later do the same. Returns which it is; -1: with a single one.
int leave_last_cpu();

// The calling thread runs there alone, if it may; -1: where it may.
void keep_to(int cpu);

}  // namespace bench::core
