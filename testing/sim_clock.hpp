// A clock that stands still until a test moves it.
//
// Behind the seam base/clock.hpp. Never looks at real time, so a simulation that uses it alone can be repeated.
#pragma once

#include <atomic>

#include "base/assert.hpp"
#include "base/clock.hpp"

namespace tailrace::impl {

class SimClock final : public Clock {
 public:
  // Any thread. seq_cst, the default: a test has no need to be faster.
  Nanoseconds now() const override { return Nanoseconds(now_.load()); }
  // Any thread. Requires step >= 0: the clock is monotonic.
  void advance(Nanoseconds step) {
    TAILRACE_REQUIRE(step.count() >= 0);
    now_.fetch_add(step.count());
  }

 private:
  std::atomic<Nanoseconds::rep> now_{0};
};

}  // namespace tailrace::impl
