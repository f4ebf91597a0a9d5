// Deadline: until when a wait in the kernel may last, and the wait itself.
//
// For waits on other processes, which no test clock moves. One deadline goes through all steps of an operation, so
// that their limits do not add up.
#pragma once

#include <time.h>

#include "base/clock.hpp"

namespace tailrace::impl {

class Deadline {
 public:
  // So long from now; zero or less: do not wait at all.
  Deadline(Nanoseconds limit);  // NOLINT: implicit on purpose, as the next
  template <class Rep, class Period>
  Deadline(std::chrono::duration<Rep, Period> limit) : Deadline(Nanoseconds(limit)) {}  // NOLINT

  // Returns the limit that was given, for messages.
  Nanoseconds limit() const { return limit_; }
  // Never negative.
  Nanoseconds left() const;
  // The moment itself, on CLOCK_MONOTONIC.
  timespec moment() const;

 private:
  Nanoseconds limit_;
  Nanoseconds end_;
};

// Sleeps until `fd` has one of `events` (poll(2)); returns what it has, 0 at the deadline. What poll reports unasked
// (POLLERR, POLLHUP, POLLNVAL) ends the wait too.
short wait_for_events(int fd, short events, const Deadline& deadline);

timespec to_timespec(Nanoseconds time);

}  // namespace tailrace::impl
