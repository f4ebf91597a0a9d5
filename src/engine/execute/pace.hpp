// Pace: limits the rate of writes while the program computes. It decides when the next transfer may begin.
//
// Each transfer delays the next one by the time that its bytes take at the rate. Unused time is not saved up. While a
// client waits for writes (hurry), nothing is delayed, and nothing is delayed later on its account. Callers pass the
// time. Only the engine's thread calls.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/assert.hpp"
#include "base/clock.hpp"

namespace tailrace::impl {

class Pace {
 public:
  static constexpr uint64_t kUnlimited = UINT64_MAX;

  // `rate`: bytes a second.
  explicit Pace(uint64_t rate = kUnlimited) : rate_(rate) { TAILRACE_REQUIRE(rate > 0); }

  uint64_t rate() const { return rate_; }
  // Sets the rate of transfers that begin from now on.
  void set_rate(uint64_t rate) {
    TAILRACE_REQUIRE(rate > 0);
    rate_ = rate;
  }
  // Lets no transfer begin before `time`. The last call counts.
  void rest_until(Nanoseconds time) { rested_ = time; }

  // While `somebody_waits`, delays nothing.
  void hurry(bool somebody_waits) { hurried_ = somebody_waits; }

  bool allows(Nanoseconds now) const { return hurried_ || now >= due(); }
  // Returns the time when the next transfer may begin if nothing waits.
  Nanoseconds due() const { return std::max(next_, rested_); }
  // Notes that a transfer of `bytes` has begun.
  void took(uint64_t bytes, Nanoseconds now) {
    if (rate_ == kUnlimited || hurried_) return;
    const double nanoseconds = 1e9 * static_cast<double>(bytes) / static_cast<double>(rate_);
    const double most = static_cast<double>(kLongest.count());
    next_ = std::max(next_, now) + Nanoseconds(static_cast<int64_t>(std::min(nanoseconds, most)));
  }

 private:
  // The longest delay by one transfer, so that tiny rates do not overflow.
  static constexpr Nanoseconds kLongest = std::chrono::hours(1);

  uint64_t rate_;
  bool hurried_ = false;
  Nanoseconds next_{0};
  Nanoseconds rested_{0};
};

}  // namespace tailrace::impl
