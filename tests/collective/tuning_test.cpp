#include "collective/tune/tuning.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <limits>
#include <random>

#include "testing/seeds.hpp"

namespace tailrace::collective {
namespace {

using Cost = std::function<double(const Options& way)>;

// Makes the writes of a program until the trials have ended, half of each trial in a write. Returns how many trials
// there were.
uint32_t try_all(Tuning& tuning, const Cost& cost) {
  uint32_t trials = 0;
  for (; !tuning.has_ended(); ++trials) {
    const double seconds = cost(tuning.options());
    if (!tuning.next_ends_trial()) tuning.wrote(seconds / 2);
    EXPECT_TRUE(tuning.next_ends_trial());
    tuning.tried(tuning.begun_seconds() + seconds / 2);
  }
  return trials;
}

// The time of a way on some machine, without noise.
double exact(const Options& way) {
  if (way.algorithm == Algorithm::automatic) return 5;
  if (way.algorithm == Algorithm::individual) return 9;
  const double buffer = way.cycle_bytes == uint64_t{64} << 20 ? 0.5 : 1;
  return (way.algorithm == Algorithm::dynamic ? 2 : 3) * buffer + 0.1 * way.aggregators;
}

TEST(Tuning, FindsTheFastestWay) {
  Tuning tuning({}, 8, 2, {});
  EXPECT_LE(try_all(tuning, exact), 40u);
  EXPECT_EQ(tuning.options().algorithm, Algorithm::dynamic);
  EXPECT_EQ(tuning.options().aggregators, 2u);
  EXPECT_EQ(tuning.options().cycle_bytes, uint64_t{64} << 20);
  EXPECT_EQ(tuning.text().substr(0, 43), "dynamic with 2 aggregators of 64 MiB 1.2000");
  EXPECT_NE(tuning.text().find(", individual 9.0000 s, "), std::string::npos) << tuning.text();
}

TEST(Tuning, AWayWithoutAggregatorsHasNoBufferToTry) {
  Tuning tuning({}, 2, 1, {});
  try_all(tuning, [](const Options& way) { return way.algorithm == Algorithm::automatic ? 1.0 : 3.0; });
  EXPECT_EQ(tuning.options().algorithm, Algorithm::automatic);
  EXPECT_EQ(tuning.text().find("64 MiB"), std::string::npos) << tuning.text();
}

TEST(Tuning, KeepsTheUsersNumberOfAggregators) {
  Tuning tuning({.aggregators = 3}, 8, 2, {});
  try_all(tuning, [](const Options& way) {
    EXPECT_EQ(way.aggregators, 3u);
    return exact(way);
  });
}

// Each time is up to twice the exact one, and the first write takes ten times as long.
TEST(Tuning, NoiseMisleadsItSeldom) {
  int wrong = 0;
  impl::for_seeds(200, [&](uint64_t seed) {
    std::mt19937_64 random(seed);
    std::uniform_real_distribution<double> noise(1, 2);
    Tuning tuning({}, 1 + static_cast<uint32_t>(seed % 9) * 2, 1, {});
    double first = 10;
    try_all(tuning, [&](const Options& way) { return exact(way) * noise(random) * std::exchange(first, 1.0); });
    wrong += tuning.options().algorithm != Algorithm::dynamic ? 1 : 0;
  });
  EXPECT_LT(wrong, 40);
}

// A program that ends early leaves its state to the next one; and processes that have it in common go on alike.
TEST(Tuning, GoesOnWhereAnEarlierProgramEnded) {
  Tuning whole({.large_piece = 4096}, 6, 3, {});
  std::vector<Options> ways;
  try_all(whole, [&](const Options& way) {
    ways.push_back(way);
    return exact(way);
  });
  Tuning::State state;
  for (const Options& expected : ways) {
    Tuning part({.large_piece = 4096}, 6, 3, state);
    ASSERT_FALSE(part.has_ended());
    EXPECT_EQ(part.options().algorithm, expected.algorithm);
    EXPECT_EQ(part.options().aggregators, expected.aggregators);
    EXPECT_EQ(part.options().cycle_bytes, expected.cycle_bytes);
    part.tried(exact(part.options()));
    state = part.state();
  }
  const Tuning known({.large_piece = 4096}, 6, 3, state);
  EXPECT_TRUE(known.has_ended());
  EXPECT_EQ(known.text(), whole.text());
}

TEST(Tuning, MakesATrialAgainThatHasFailed) {
  Tuning tuning({}, 8, 2, {});
  tuning.tried(1);
  tuning.wrote(std::numeric_limits<double>::infinity());
  tuning.forget_begun();
  EXPECT_EQ(tuning.begun_seconds(), 0);
  EXPECT_FALSE(tuning.next_ends_trial());
  EXPECT_EQ(tuning.options().algorithm, Algorithm::individual);
}

TEST(Tuning, TriesNoBufferWithoutBytes) {
  for (const uint64_t bytes : {uint64_t{1}, uint64_t{1} << 62, UINT64_MAX}) {
    Tuning tuning({.cycle_bytes = bytes}, 4, 1, {});
    try_all(tuning, [](const Options& way) {
      EXPECT_GE(way.cycle_bytes, 1u);
      return way.algorithm == Algorithm::dynamic ? 1 : 2;
    });
  }
}

// A profile may have been changed by anyone.
TEST(Tuning, AnyStateEnds) {
  impl::for_seeds(1000, [](uint64_t seed) {
    std::mt19937_64 random(seed);
    Tuning::State state;
    for (size_t way = 0; way < Tuning::kMaxWays; ++way) {
      state.tries[way] = static_cast<uint32_t>(random() % 5);
      state.seconds[way] = random() % 4 == 0 ? 1e300 : static_cast<double>(random() % 100);
    }
    state.begun_writes = static_cast<uint32_t>(random() % 4);
    Tuning tuning({}, 1 + static_cast<uint32_t>(random() % 8), 1 + static_cast<uint32_t>(random() % 3), state);
    EXPECT_LE(try_all(tuning, exact), 40u);
    EXPECT_LE(tuning.options().algorithm, Algorithm::static_);
  });
}

}  // namespace
}  // namespace tailrace::collective
