// Doorbell: wakes one thread that sleeps while it has nothing to do.
//
// The thread that serves calls prepare(), looks for work once more, and then calls either cancel() or sleep(). A
// thread that makes work visible calls ring() after it. A ring costs a system call only if the server sleeps or is
// about to. The bell is an eventfd, so that the kernel (io_uring) and other processes can ring it as well. The server
// can also sleep on one descriptor of another owner at the same time, such as that of a network library.
#pragma once

#include <algorithm>
#include <optional>

#include "base/clock.hpp"
#include "base/sync/event_fd.hpp"
#include "base/sync/sleep_flag.hpp"

namespace tailrace::impl {

class Doorbell {
 public:
  // A descriptor on which the server sleeps, too: it wakes while this is readable, and after `longest` at the latest.
  struct Also {
    int descriptor = -1;  // none
    Nanoseconds longest = Nanoseconds::max();
  };

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
    event_.take(bounded(limit), also_.descriptor);
    asleep_.retract();
  }

  // The server, or its builder before it runs. The descriptor is open until it is replaced.
  void listen_also_to(const Also& also) { also_ = also; }
  int also_listens_to() const { return also_.descriptor; }
  // For a server that sleeps on both descriptors itself: returns the time for which it may.
  std::optional<Nanoseconds> bounded(std::optional<Nanoseconds> limit) const {
    if (also_.descriptor < 0) return limit;
    return std::min(limit.value_or(also_.longest), also_.longest);
  }
  // Only the server: returns true between prepare() and the next ring, cancel() or end of sleep().
  bool is_prepared() const { return asleep_.is_announced(); }

  // Returns the descriptor: others ring by writing 1 to it. Owned by the bell.
  int fd() const { return event_.fd(); }

 private:
  const EventFd event_;
  SleepFlag<> asleep_;
  Also also_;  // the server's
};

}  // namespace tailrace::impl
