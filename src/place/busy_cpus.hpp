// every_cpu_is_busy: whether the machine has a cpu to spare at this moment.
#pragma once

namespace tailrace::impl {

// Returns true if at least as many threads run, or could run, as the machine has cpus; the caller is one of them. A
// glance at one moment, for where a writer begins. False if the system does not tell.
bool every_cpu_is_busy();

}  // namespace tailrace::impl
