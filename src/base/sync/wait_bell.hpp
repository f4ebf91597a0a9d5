// WaitBell: makes a waiting client look again (for memory, for room in the ring, for a ticket); the server rings it.
//
// A client is one thread and waits for one thing at a time, so one bell serves all its waits. Ringing costs an atomic
// exchange, and a system call only if the client sleeps. Lives in memory that both sides see; holds no pointers.
#pragma once

#include <atomic>
#include <optional>

#include "base/clock.hpp"
#include "base/sync/futex.hpp"
#include "base/sync/sleep_flag.hpp"

namespace tailrace::impl {

class WaitBell {
 public:
  // Any thread, after it has made visible the change for which the client may wait.
  void ring() {
    if (!asleep_.claim()) return;
    // release: pairs with the acquire in wait_until, though the change itself is ordered by SleepFlag already.
    rings_.fetch_add(1, std::memory_order_release);
    futex_wake_all(rings_);
  }

  // Returns true if the client sleeps or is about to; it may have woken by the time of the return. Any thread.
  bool has_sleeper() const { return asleep_.is_announced(); }

  // Sleeps until `ready()` holds, or for `timeout` by `clock` (none: no limit). Only the client. Returns the last
  // result of ready().
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
