// EventFd: the kernel's counter that a thread can sleep on and others, io_uring too, can raise.
//
// Nothing but the system calls: what is simulated replaces this file and futex.cpp at link time (testing/simulation),
// and runs the protocols above them as they are.
#pragma once

#include <optional>

#include "base/clock.hpp"

namespace tailrace::impl {

class EventFd {
 public:
  // Takes one file descriptor; aborts if the process has none left.
  EventFd();
  ~EventFd();
  EventFd(const EventFd&) = delete;
  EventFd& operator=(const EventFd&) = delete;

  // Any thread: wakes the one that takes, now or when it next does.
  void raise() const;
  // Sleeps until it has been raised since the last take, or for `limit` (none: for ever).
  void take(std::optional<Nanoseconds> limit = std::nullopt) const;

  // For others to raise by writing the 64-bit number 1 to it. Owned by this.
  int fd() const { return fd_; }

 private:
  const int fd_;
};

}  // namespace tailrace::impl
