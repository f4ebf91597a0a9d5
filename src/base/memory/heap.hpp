// take_heap: takes the memory of a process's own book-keeping from the system before it is needed.
//
// The first touch makes memory slow (touch.hpp has figures), also memory from malloc. Only for processes that belong
// to tailrace alone, because it changes how malloc works in the whole process.
#pragma once

#include <cstddef>
#include <memory>

#include "base/memory/toucher.hpp"

namespace tailrace::impl {

// Begins to touch `bytes`, at most 32 MiB. When all are touched, malloc uses them before it asks the system for more,
// and never returns memory to the system. Call it at the start of a process.
std::unique_ptr<Toucher> take_heap(size_t bytes);

}  // namespace tailrace::impl
