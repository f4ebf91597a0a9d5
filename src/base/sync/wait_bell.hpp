// WaitBell: how the server tells a client that waits (for memory, for room in the ring, for a ticket) to look again.
//
// A client is one thread and waits for one thing at a time, so it has one bell for all of them. Ringing costs an
// atomic exchange, and a system call only if the client sleeps. Lives in memory both sides see; holds no pointers.
#pragma once

#include <atomic>
#include <optional>

#include "base/clock.hpp"
#include "base/sync/futex.hpp"
#include "base/sync/sleep_flag.hpp"

namespace tailrace::impl {

class WaitBell {
 public:
  // Any thread, after it has made the change visible that the client may wait for.
  void ring() {
    if (!asleep_.claim()) return;
    // release: pairs with the acquire in wait_until, though the change itself is ordered by SleepFlag already.
    rings_.fetch_add(1, std::memory_order_release);
    futex_wake_all(rings_);
  }

  // Any thread: whether the client sleeps, or is about to; by the time of the answer it may not any more.
  bool has_sleeper() const { return asleep_.is_announced(); }

  // The client: sleeps until `ready()` holds, or for `timeout` by `clock` (none: for ever). Returns what ready() said
  // last.
  template <class Ready>
  bool wait_until(Ready ready, std::optional<Nanoseconds> timeout, const Clock& clock = SteadyClock()) {
    const Nanoseconds start = timeout ? clock.now() : Nanoseconds::zero();
    for (;;) {
      const uint32_t seen = rings_.load(std::memory_order_acquire);
      asleep_.announce();
      if (ready()) {
        asleep_.retract();
        return true;
      }
      std::optional<Nanoseconds> left;
      if (timeout) {
        left = *timeout - (clock.now() - start);
        if (*left <= Nanoseconds::zero()) {
          asleep_.retract();
          return false;
        }
      }
      futex_wait(rings_, seen, left);
    }
  }

 private:
  std::atomic<uint32_t> rings_{0};
  SleepFlag<> asleep_;
};

}  // namespace tailrace::impl
