// take_heap: memory for a process's own book-keeping, taken from the system before it is needed.
//
// First touch is what makes memory slow (touch.hpp says how slow), also that which malloc gets. For a process that is
// tailrace's alone: it changes how malloc works in all of it.
#pragma once

#include <cstddef>
#include <memory>

#include "base/memory/toucher.hpp"

namespace tailrace::impl {

// Begins to touch `bytes`, at most 32 MiB. When all are touched, malloc gives them out before it asks the system for
// more, and never gives them back. At the start of a process, which keeps what is returned to its end.
std::unique_ptr<Toucher> take_heap(size_t bytes);

}  // namespace tailrace::impl
