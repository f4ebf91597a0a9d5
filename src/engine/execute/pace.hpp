// Pace: how soon the next transfer of a write may begin, so that storage gets no more than so many bytes a second
// while the program computes.
//
// After each transfer the next one waits for as long as the bytes take at the rate; time that nothing used is not
// saved up. While somebody waits for writes (hurry) nothing is held, or paid for later. Knows the time only as it is
// told. Driven by the engine's thread.
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
  // The rate of what begins from now on.
  void set_rate(uint64_t rate) {
    TAILRACE_REQUIRE(rate > 0);
    rate_ = rate;
  }
  // Nothing begins before then. The last call counts.
  void rest_until(Nanoseconds time) { rested_ = time; }

  // While somebody waits nothing is held.
  void hurry(bool somebody_waits) { hurried_ = somebody_waits; }

  bool allows(Nanoseconds now) const { return hurried_ || now >= due(); }
  // When the next transfer may begin if nobody waits.
  Nanoseconds due() const { return std::max(next_, rested_); }
  // A transfer of so many bytes has begun.
  void took(uint64_t bytes, Nanoseconds now) {
    if (rate_ == kUnlimited || hurried_) return;
    const double nanoseconds = 1e9 * static_cast<double>(bytes) / static_cast<double>(rate_);
    const double most = static_cast<double>(kLongest.count());
    next_ = std::max(next_, now) + Nanoseconds(static_cast<int64_t>(std::min(nanoseconds, most)));
  }

 private:
  // For which one transfer holds the next at most: rates of next to nothing do not overflow.
  static constexpr Nanoseconds kLongest = std::chrono::hours(1);

  uint64_t rate_;
  bool hurried_ = false;
  Nanoseconds next_{0};
  Nanoseconds rested_{0};
};

}  // namespace tailrace::impl
