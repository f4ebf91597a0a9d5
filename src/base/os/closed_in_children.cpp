#include "base/os/closed_in_children.hpp"

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <utility>

namespace tailrace::impl {
namespace {

// descriptor + 1, or 0 for a free slot. One list per process, like its descriptors. relaxed throughout: the child has
// one thread, and sees its parent's memory as it was at the fork.
constinit std::array<std::atomic<int>, ClosedInChildren::kMost> listed{};

// Runs in a child whose parent may have had many threads: calls only functions that are safe in a signal handler.
void close_listed() {
  for (std::atomic<int>& slot : listed) {
    const int fd = slot.load(std::memory_order_relaxed) - 1;
    if (fd < 0) continue;
    slot.store(0, std::memory_order_relaxed);
    ::close(fd);
  }
}

}  // namespace

ClosedInChildren::ClosedInChildren(int fd) {
  [[maybe_unused]] static const int registered = pthread_atfork(nullptr, nullptr, close_listed);
  for (int slot = 0; slot < kMost; ++slot) {
    int expected = 0;
    std::atomic<int>& entry = listed[static_cast<size_t>(slot)];
    if (!entry.compare_exchange_strong(expected, fd + 1, std::memory_order_relaxed)) continue;
    slot_ = slot;
    return;
  }
}

ClosedInChildren::ClosedInChildren(ClosedInChildren&& other) noexcept : slot_(std::exchange(other.slot_, -1)) {}

ClosedInChildren& ClosedInChildren::operator=(ClosedInChildren&& other) noexcept {
  if (this != &other) {
    forget();
    slot_ = std::exchange(other.slot_, -1);
  }
  return *this;
}

void ClosedInChildren::forget() {
  if (slot_ >= 0) listed[static_cast<size_t>(slot_)].store(0, std::memory_order_relaxed);
  slot_ = -1;
}

}  // namespace tailrace::impl
