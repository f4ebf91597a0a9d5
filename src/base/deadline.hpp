// Deadline: the latest time at which a wait in the kernel ends, and the wait itself.
//
// Serves waits for other processes, which no test clock moves. One deadline goes through all steps of an operation,
// so that their limits do not add up.
#pragma once

#include <time.h>

#include "base/clock.hpp"

namespace tailrace::impl {

class Deadline {
 public:
  // Ends `limit` from now. Zero or less: the wait does not block.
  Deadline(Nanoseconds limit);  // NOLINT: implicit on purpose, as the next
  template <class Rep, class Period>
  Deadline(std::chrono::duration<Rep, Period> limit) : Deadline(Nanoseconds(limit)) {}  // NOLINT

  // Returns the limit that was given, for messages.
  Nanoseconds limit() const { return limit_; }
  // Returns the time that is left. Never negative.
  Nanoseconds left() const;
  // Returns the moment itself, on CLOCK_MONOTONIC.
  timespec moment() const;

 private:
  Nanoseconds limit_;
  Nanoseconds end_;
};

// Sleeps until `fd` has one of `events` (poll(2)) and returns the events that it has, or 0 at the deadline. The
// events that poll reports unasked (POLLERR, POLLHUP, POLLNVAL) end the wait too.
short wait_for_events(int fd, short events, const Deadline& deadline);

timespec to_timespec(Nanoseconds time);

}  // namespace tailrace::impl
