// How much of an array can be read: a description may say that the program's array is larger than it is.
#pragma once

#include <cstdint>

namespace tailrace::damaris {

// Returns how many of the `bytes` bytes from `data` on can be read; all, if that cannot be known. Takes a few µs,
// however many there are. Before Linux 6.11, it knows only of memory that is not there, not of memory that is
// protected.
uint64_t readable_bytes(const void* data, uint64_t bytes);

}  // namespace tailrace::damaris
