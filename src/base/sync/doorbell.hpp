// Doorbell: how one thread that sleeps when there is nothing to do is told that there is.
//
// The thread that serves calls prepare(), looks for work once more, and then either cancel()s or sleep()s. Whoever
// makes work visible calls ring() after it. A ring costs a system call only if the server sleeps or is about to.
// The bell is an eventfd, so that the kernel (io_uring) and other processes can ring it as well.
#pragma once

#include "base/sync/event_fd.hpp"
#include "base/sync/sleep_flag.hpp"

namespace tailrace::impl {

class Doorbell {
 public:
  // Any thread. What the caller wrote before is seen by the server after it wakes.
  void ring() {
    if (asleep_.claim()) event_.raise();
  }
  // Any thread. The same, and an awake server will not fall asleep before it has looked once more.
  void wake() { event_.raise(); }

  // The server only.
  void prepare() { asleep_.announce(); }
  void cancel() { asleep_.retract(); }
  // For `limit` at most; none: until it rings.
  void sleep(std::optional<Nanoseconds> limit = std::nullopt) {
    event_.take(limit);
    asleep_.retract();
  }

  // For others to ring by writing 1 to it. Owned by the bell.
  int fd() const { return event_.fd(); }

 private:
  const EventFd event_;
  SleepFlag<> asleep_;
};

}  // namespace tailrace::impl
