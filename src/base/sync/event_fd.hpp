// EventFd: a counter in the kernel on which one thread sleeps, and which other threads and io_uring can raise.
//
// It contains only the system calls. The simulation replaces this file and futex.cpp at link time
// (testing/simulation), and runs the protocols above them unchanged.
#pragma once

#include <optional>

#include "base/clock.hpp"

namespace tailrace::impl {

class EventFd {
 public:
  // Uses one file descriptor. Throws std::system_error if the process has none left.
  EventFd();
  ~EventFd();
  EventFd(const EventFd&) = delete;
  EventFd& operator=(const EventFd&) = delete;

  // Wakes the thread that sleeps in take(), or its next take(). Any thread.
  void raise() const;
  // Sleeps until the counter has been raised since the last take(), or for `limit` (none: for ever); or, with
  // `other`, until that descriptor is readable.
  void take(std::optional<Nanoseconds> limit = std::nullopt, int other = -1) const;

  // Returns the descriptor: others raise the counter by writing the 64-bit number 1 to it. Owned by this object.
  int fd() const { return fd_; }

 private:
  const int fd_;
};

}  // namespace tailrace::impl
