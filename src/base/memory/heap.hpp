// take_heap: memory for a process's own book-keeping, taken from the system before it is needed.
//
// First touch is what makes memory slow, also that which malloc gets (memory_map.hpp says how slow). For a process
// that is tailrace's alone: it changes how malloc works in all of it.
#pragma once

#include <cstddef>

namespace tailrace::impl {

// Touches `bytes`, at most 32 MiB, which malloc then gives out before it asks the system for more, and never gives
// back. At the start of a process.
void take_heap(size_t bytes);

}  // namespace tailrace::impl
