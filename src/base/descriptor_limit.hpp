// The limit of file descriptors of this process (RLIMIT_NOFILE).
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace tailrace::impl {

// Returns how many descriptors this process may have open at once now.
uint64_t descriptor_limit();

// Raises the limit as far as the system allows. Call it before there are threads, and only in tailrace's own
// programs: an application's limit belongs to the application.
void raise_descriptor_limit();

// Gives a child, which inherits the raised limit, the limit that this process had before. Foreign code in the child
// may use calls (select) that break with high descriptors.
void restore_descriptor_limit_of(pid_t child);

}  // namespace tailrace::impl
