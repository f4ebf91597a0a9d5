// The seam for time: everything below runtime that needs it takes a Clock, so that tests can run it.
#pragma once

#include <chrono>

namespace tailrace::impl {

using Nanoseconds = std::chrono::nanoseconds;

class Clock {
 public:
  virtual ~Clock() = default;
  // Monotonic time since an arbitrary start. Any thread.
  virtual Nanoseconds now() const = 0;
};

class SteadyClock final : public Clock {
 public:
  Nanoseconds now() const override { return std::chrono::steady_clock::now().time_since_epoch(); }
};

}  // namespace tailrace::impl
