// A limited rate: when transfers begin, against a plain model in simulated time; that waiting callers go on,
// and that nothing starves.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "engine/execute/pace.hpp"
#include "engine_rig.hpp"
#include "testing/dice.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t kTransfer = 4096;
constexpr uint64_t kRate = 1000 * kTransfer;  // a transfer a millisecond

EngineRigOptions at_rate(uint64_t rate, uint32_t depth = 8) {
  EngineRigOptions options;
  options.depth = depth;
  options.engine.execute.rate = rate;
  options.engine.execute.largest_transfer = kTransfer;
  options.engine.execute.direct_from = kTransfer;
  options.engine.gather.on = false;
  return options;
}

uint64_t begun(const EngineRig& rig) { return rig.engine.counts().transfers.transfers; }

TEST(Pace, WithoutALimitNothingIsHeld) {
  Pace pace;
  pace.took(uint64_t{1} << 40, seconds(1));
  EXPECT_TRUE(pace.allows(seconds(1)));
}

TEST(Pace, HoldsForAsLongAsTheBytesTake) {
  Pace pace(1000);
  EXPECT_TRUE(pace.allows(seconds(5)));
  pace.took(500, seconds(5));
  EXPECT_EQ(pace.due(), milliseconds(5500));
  EXPECT_FALSE(pace.allows(milliseconds(5499)));
  EXPECT_TRUE(pace.allows(milliseconds(5500)));
  pace.took(500, seconds(60));  // the time since then is not saved up
  EXPECT_EQ(pace.due(), milliseconds(60500));
}

TEST(Pace, RestsUntilATimeWhateverTheRateIs) {
  Pace pace;
  pace.rest_until(seconds(2));
  EXPECT_FALSE(pace.allows(seconds(1)));
  pace.hurry(true);
  EXPECT_TRUE(pace.allows(seconds(1)));
  pace.hurry(false);
  EXPECT_FALSE(pace.allows(seconds(1)));
  pace.rest_until(Nanoseconds(0));
  EXPECT_TRUE(pace.allows(seconds(1)));
}

TEST(Pace, TheLeastRateAndTheMostBytesDoNotOverflow) {
  Pace pace(1);
  for (int i = 0; i < 1000; ++i) pace.took(UINT64_MAX, Nanoseconds(0));
  EXPECT_GT(pace.due(), seconds(3600));
}

TEST(Throttle, ATransferBeginsWhenTheOneBeforeIsPaidFor) {
  EngineRig rig(at_rate(kRate));
  const FileId file = rig.create("a", 0);
  std::string text(10 * kTransfer, 'x');
  rig.submit(Operation::write, file, {piece_of(0, text)});
  for (uint64_t turn = 0; turn < 10; ++turn) {
    rig.engine.progress();
    EXPECT_EQ(begun(rig), turn + 1);
    if (turn == 9) break;
    ASSERT_TRUE(rig.engine.due().has_value());
    EXPECT_EQ(*rig.engine.due(), milliseconds(turn + 1));
    rig.clock.advance(milliseconds(1) - Nanoseconds(1));
    rig.engine.progress();
    EXPECT_EQ(begun(rig), turn + 1) << "a nanosecond too early";
    rig.clock.advance(Nanoseconds(1));
  }
  rig.run_until_idle();
  EXPECT_FALSE(rig.engine.due().has_value()) << "nothing is left that could be due";
  EXPECT_EQ(rig.text("a.part"), text);
}

TEST(Throttle, WhoWaitsGetsAllAtOnce) {
  EngineRig rig(at_rate(kRate, 2));
  const FileId file = rig.create("a", 0);
  std::string text(10 * kTransfer, 'x');
  rig.submit(Operation::write, file, {piece_of(0, text)});
  rig.engine.progress();
  EXPECT_EQ(begun(rig), 1u);
  for (int rounds = 0; rounds < 20; ++rounds) rig.engine.progress(Urgency::sleeping);  // the clock stands still
  EXPECT_TRUE(rig.engine.idle());
  EXPECT_EQ(begun(rig), 10u);
  // From then on the rate holds again.
  rig.submit(Operation::write, file, {piece_of(0, text)});
  rig.clock.advance(milliseconds(1));
  rig.engine.progress();
  EXPECT_EQ(begun(rig), 11u) << "what went in a hurry is not paid for later";
  rig.run_until_idle();
}

TEST(Throttle, ReadsAreNotPaidFor) {
  EngineRig rig(at_rate(kRate));
  const FileId file = rig.create("a", 4 * kTransfer);
  std::string text(kTransfer, 'x');
  rig.submit(Operation::write, file, {piece_of(0, text)});
  rig.engine.progress();
  std::string read(3 * kTransfer, '?');
  rig.submit(Operation::read, file, {piece_of(kTransfer, read)});
  rig.engine.progress();
  rig.engine.progress();
  EXPECT_TRUE(rig.engine.idle());
  EXPECT_EQ(read, std::string(3 * kTransfer, '\0'));
}

// Random writes at random times. In no stretch of time more begins than the rate allows, and one transfer; all that
// was asked for ends, and is in the file.
void try_at_random(uint64_t seed) {
  Dice dice(seed);
  EngineRig rig(at_rate(kRate, static_cast<uint32_t>(dice.between(1, 8))));
  const FileId file = rig.create("a", 0);
  std::string expected;
  std::vector<std::string> texts(dice.between(1, 40));
  std::vector<std::pair<Nanoseconds, uint64_t>> moved;  // when, how many bytes until then
  const auto look = [&] {
    rig.engine.progress();
    moved.emplace_back(rig.clock.now(), rig.engine.counts().transfers.bytes_written);
  };
  for (std::string& text : texts) {
    text.assign(dice.between(1, 5 * kTransfer), static_cast<char>('a' + dice.below(26)));
    rig.submit(Operation::write, file, {piece_of(expected.size(), text)});
    expected += text;
    for (uint64_t steps = dice.below(4); steps > 0; --steps) {
      look();
      rig.clock.advance(Nanoseconds(dice.below(3'000'000)));
    }
  }
  while (!rig.engine.idle()) {
    look();
    if (rig.engine.due()) rig.clock.advance(std::max(*rig.engine.due() - rig.clock.now(), Nanoseconds(0)));
  }
  look();
  EXPECT_EQ(rig.text("a.part"), expected);
  for (size_t from = 0; from < moved.size(); ++from) {
    for (size_t to = from + 1; to < moved.size(); ++to) {
      const double time = std::chrono::duration<double>(moved[to].first - moved[from].first).count();
      const uint64_t bytes = moved[to].second - moved[from].second;
      ASSERT_LE(static_cast<double>(bytes), static_cast<double>(kRate) * time + kTransfer + 1);
    }
  }
}

TEST(Throttle, KeepsToTheRateInAnyStretchOfTime) { for_seeds(200, try_at_random); }

}  // namespace
}  // namespace tailrace::impl
