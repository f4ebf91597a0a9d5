// Clock: the seam for time. All code below runtime that needs the time takes a Clock, so that tests can control it.
#pragma once

#include <chrono>

namespace tailrace::impl {

using Nanoseconds = std::chrono::nanoseconds;

class Clock {
 public:
  virtual ~Clock() = default;
  // Returns the monotonic time since an arbitrary start. Any thread.
  virtual Nanoseconds now() const = 0;
};

class SteadyClock final : public Clock {
 public:
  Nanoseconds now() const override { return std::chrono::steady_clock::now().time_since_epoch(); }
};

}  // namespace tailrace::impl
