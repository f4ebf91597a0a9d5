// RandomBytes: where keys and nonces come from. The operating system's generator; in tests and in the simulator, one
// that repeats itself.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace tailrace::impl {

// Fills the span with unpredictable bytes.
using RandomBytes = std::function<void(std::span<std::byte>)>;

// Returns the generator of the operating system. Any thread; it holds no state, so a forked child gets other bytes.
RandomBytes system_random();

}  // namespace tailrace::impl
