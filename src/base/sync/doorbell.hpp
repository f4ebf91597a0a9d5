// Doorbell: wakes one thread that sleeps while it has nothing to do.
//
// The thread that serves calls prepare(), looks for work once more, and then calls either cancel() or sleep(). A
// thread that makes work visible calls ring() after it. A ring costs a system call only if the server sleeps or is
// about to. The bell is an eventfd, so that the kernel (io_uring) and other processes can ring it as well.
#pragma once

#include "base/sync/event_fd.hpp"
#include "base/sync/sleep_flag.hpp"

namespace tailrace::impl {

class Doorbell {
 public:
  // Wakes the server if it sleeps. Any thread. The server sees the caller's earlier writes after it wakes.
  void ring() {
    if (asleep_.claim()) event_.raise();
  }
  // Does the same, and also keeps an awake server from sleeping before it has looked once more. Any thread.
  void wake() { event_.raise(); }

  // Only the server calls these three.
  void prepare() { asleep_.announce(); }
  void cancel() { asleep_.retract(); }
  // For `limit` at most; none: until it rings.
  void sleep(std::optional<Nanoseconds> limit = std::nullopt) {
    event_.take(limit);
    asleep_.retract();
  }

  // Returns the descriptor: others ring by writing 1 to it. Owned by the bell.
  int fd() const { return event_.fd(); }

 private:
  const EventFd event_;
  SleepFlag<> asleep_;
};

}  // namespace tailrace::impl
