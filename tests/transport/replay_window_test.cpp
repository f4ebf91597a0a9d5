// ReplayWindow against a plain set of all numbers that have come.
#include "transport/secure/replay_window.hpp"

#include <gtest/gtest.h>

#include <set>

#include "testing/dice.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

using Verdict = ReplayWindow::Verdict;
constexpr uint64_t kSize = ReplayWindow::kSize;

// Judges by remembering everything.
struct PlainWindow {
  Verdict judge(uint64_t number) const {
    if (!seen.empty() && number + kSize <= *seen.rbegin()) return Verdict::too_old;
    return seen.contains(number) ? Verdict::seen : Verdict::fresh;
  }
  std::set<uint64_t> seen;
};

void run(uint64_t seed) {
  Dice dice(seed);
  ReplayWindow window;
  PlainWindow plain;
  uint64_t highest = 0;
  const uint64_t spread = dice.chance(50) ? 2 * kSize : 20;
  for (int i = 0; i < 4000; ++i) {
    const uint64_t jump = dice.chance(1) ? dice.below(5 * kSize) : dice.below(4);
    const uint64_t back = dice.chance(60) ? 0 : dice.below(spread);
    const uint64_t number = highest + jump >= back ? highest + jump - back : 0;
    ASSERT_EQ(window.judge(number), plain.judge(number)) << number;
    if (window.judge(number) != Verdict::fresh) continue;
    window.note(number);
    plain.seen.insert(number);
    highest = std::max(highest, number);
    ASSERT_EQ(window.end(), highest + 1);
  }
}

TEST(ReplayWindow, JudgesAsASetOfAllNumbersDoes) { for_seeds(20, run); }

TEST(ReplayWindow, ItsEdgesAreExact) {
  ReplayWindow window;
  EXPECT_EQ(window.judge(0), Verdict::fresh);
  window.note(5000);
  EXPECT_EQ(window.judge(5000), Verdict::seen);
  EXPECT_EQ(window.judge(5001 - kSize), Verdict::fresh);
  EXPECT_EQ(window.judge(5000 - kSize), Verdict::too_old);
  EXPECT_EQ(window.judge(0), Verdict::too_old);
  window.note(5001 - kSize);
  EXPECT_EQ(window.judge(5001 - kSize), Verdict::seen);
  window.note(5001);
  EXPECT_EQ(window.judge(5001 - kSize), Verdict::too_old);
  EXPECT_EQ(window.judge(5002 - kSize), Verdict::fresh);
}

TEST(ReplayWindow, HasRoomForTheLargestNumbers) {
  ReplayWindow window;
  const uint64_t last = (uint64_t{1} << 63) - 1;
  window.note(0);
  window.note(last);
  EXPECT_EQ(window.judge(last), Verdict::seen);
  EXPECT_EQ(window.judge(last - 1), Verdict::fresh);
  EXPECT_EQ(window.judge(0), Verdict::too_old);
}

}  // namespace
}  // namespace tailrace::impl
