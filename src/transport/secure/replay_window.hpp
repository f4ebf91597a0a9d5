// ReplayWindow: remembers which sequence numbers have come, so that none is accepted twice.
//
// Messages of one sender may overtake each other, but none may be more than kSize behind the highest that has come: a
// window of fixed size remembers the rest. It knows nothing of keys; only numbers of authentic messages get into it.
#pragma once

#include <bitset>
#include <cstddef>
#include <cstdint>

#include "base/assert.hpp"

namespace tailrace::impl {

class ReplayWindow {
 public:
  static constexpr uint64_t kSize = 1024;
  enum class Verdict : uint8_t { fresh, seen, too_old };

  Verdict judge(uint64_t number) const {
    if (number >= end_) return Verdict::fresh;
    if (end_ - number > kSize) return Verdict::too_old;
    return seen_[number % kSize] ? Verdict::seen : Verdict::fresh;
  }

  // Requires that the number is fresh.
  void note(uint64_t number) {
    TAILRACE_REQUIRE(judge(number) == Verdict::fresh);
    if (number >= end_) advance(number);
    seen_[number % kSize] = true;
  }

  // Returns the highest number that has come, plus 1.
  uint64_t end() const { return end_; }

 private:
  void advance(uint64_t number) {
    if (number - end_ >= kSize) seen_.reset();
    const uint64_t first = number - end_ >= kSize ? number : end_;
    for (uint64_t skipped = first; skipped < number; ++skipped) seen_[skipped % kSize] = false;
    end_ = number + 1;
  }

  uint64_t end_ = 0;
  std::bitset<kSize> seen_;  // the numbers from end_ − kSize on, each at its remainder
};

}  // namespace tailrace::impl
