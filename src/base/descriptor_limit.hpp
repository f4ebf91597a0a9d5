// The limit of file descriptors of this process (RLIMIT_NOFILE).
#pragma once

#include <sys/types.h>

#include <cstdint>

namespace tailrace::impl {

// How many descriptors this process may have open at once, at present.
uint64_t descriptor_limit();

// Raises it as far as the system lets this process. Before there are threads, and for programs that are tailrace's
// own: the limit of an application is the application's.
void raise_descriptor_limit();

// Gives a child, which inherits the limit, the one that this process had before it was raised: what others wrote may
// use descriptors in ways that many of them break (select).
void restore_descriptor_limit_of(pid_t child);

}  // namespace tailrace::impl
