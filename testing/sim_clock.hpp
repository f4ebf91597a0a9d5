// SimClock: a clock that stands still until a test advances it.
//
// It implements base/clock.hpp and never reads real time, so a simulation that uses only this clock is repeatable.
#pragma once

#include <atomic>

#include "base/assert.hpp"
#include "base/clock.hpp"

namespace tailrace::impl {

class SimClock final : public Clock {
 public:
  // Any thread may call it. seq_cst, the default: a test need not be faster.
  Nanoseconds now() const override { return Nanoseconds(now_.load()); }
  // Any thread may call it. REQUIRES: step >= 0, since the clock is monotonic.
  void advance(Nanoseconds step) {
    TAILRACE_REQUIRE(step.count() >= 0);
    now_.fetch_add(step.count());
  }

 private:
  std::atomic<Nanoseconds::rep> now_{0};
};

}  // namespace tailrace::impl
