// Selects the cpus of a measurement.
#pragma once

namespace bench::core {

// Leaves the last cpu that this process may use to the server, which binds itself to it; does nothing if there is
// only one. Processes and threads started later inherit this. Returns that cpu, or -1 if there is only one.
int leave_last_cpu();

// Binds the calling thread to that cpu, if allowed; -1: does not bind it.
void keep_to(int cpu);

}  // namespace bench::core
