// Which cpus a measurement runs on.
#pragma once

namespace bench::core {

// Leaves the last cpu that this process may use to the server, which binds itself to it; with a single one, nothing
// is done. Processes and threads started later do the same.
void leave_last_cpu();

}  // namespace bench::core
