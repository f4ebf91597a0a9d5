// ProcessMark: a number that tells a process from the children that it forks. Reading it takes no system call.
#pragma once

#include <cstdint>

namespace tailrace::impl {

// Returns a number that stays the same for the whole life of a process, and differs in each child of fork(). Never 0.
// Any thread.
uint64_t process_mark();

}  // namespace tailrace::impl
