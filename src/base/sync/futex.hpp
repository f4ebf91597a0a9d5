// Waiting on a 32-bit word: the kernel's futex, which also works on words shared between processes.
//
// The usual protocol: the waiter reads the word, decides to wait while it has that value, and calls futex_wait
// with it; the waker changes the word first and calls futex_wake after.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace tailrace::impl {

// Sleeps while `word` holds `expected`, until woken or for `timeout` at most (none: for ever). May return early for
// no reason: the caller checks its condition again.
void futex_wait(const std::atomic<uint32_t>& word, uint32_t expected,
                std::optional<std::chrono::nanoseconds> timeout);

// Wakes all who wait on `word`.
void futex_wake_all(const std::atomic<uint32_t>& word);

}  // namespace tailrace::impl
