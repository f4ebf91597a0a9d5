// futex: waits for a change of a 32-bit word, which processes may share.
//
// The usual protocol: the waiter reads the word, decides to wait while it has that value, and calls futex_wait with
// it. The waker changes the word first and calls futex_wake_all after that.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>

namespace tailrace::impl {

// Sleeps while `word` holds `expected`, until woken or for at most `timeout` (none: no limit). May return early
// without a reason, so the caller checks its condition again.
void futex_wait(const std::atomic<uint32_t>& word, uint32_t expected,
                std::optional<std::chrono::nanoseconds> timeout);

// Wakes all threads that wait on `word`.
void futex_wake_all(const std::atomic<uint32_t>& word);

}  // namespace tailrace::impl
