#include "base/sync/futex.hpp"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>
#include <ctime>

namespace tailrace::impl {

static_assert(sizeof(std::atomic<uint32_t>) == sizeof(uint32_t), "the kernel sees the atomic as a plain word");

void futex_wait(const std::atomic<uint32_t>& word, uint32_t expected,
                std::optional<std::chrono::nanoseconds> timeout) {
  timespec relative{};
  if (timeout) {
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(*timeout);
    relative.tv_sec = seconds.count();
    relative.tv_nsec = (*timeout - seconds).count();
  }
  // All errors (woken, value changed, signal, timeout) mean the same to the caller: look again.
  syscall(SYS_futex, &word, FUTEX_WAIT, expected, timeout ? &relative : nullptr, nullptr, 0);
}

void futex_wake_all(const std::atomic<uint32_t>& word) {
  syscall(SYS_futex, &word, FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

}  // namespace tailrace::impl
