// ByteRanges against a plain model: a set of bytes.
#include "bindings/process_client/bytes/byte_ranges.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "testing/dice.hpp"
#include "testing/seeds.hpp"

namespace tailrace::process {
namespace {

TEST(ByteRanges, TouchWhatHasBeenAdded) {
  impl::for_seeds(200, [](uint64_t seed) {
    impl::Dice dice(seed);
    const uint64_t bytes = dice.between(1, 300);
    std::vector<bool> model(bytes);
    ByteRanges ranges;
    EXPECT_TRUE(ranges.empty());
    for (int step = 0; step < 200; ++step) {
      const uint64_t begin = dice.below(bytes);
      const uint64_t end = begin + dice.between(1, std::min<uint64_t>(bytes - begin, 20));
      const auto first = model.begin() + static_cast<ptrdiff_t>(begin);
      const auto last = model.begin() + static_cast<ptrdiff_t>(end);
      ASSERT_EQ(ranges.touches(begin, end), std::find(first, last, true) != last) << begin << " to " << end;
      if (dice.chance(3)) {
        ranges.clear();
        model.assign(bytes, false);
      } else if (dice.chance(30)) {
        ranges.add(begin, end);
        std::fill(first, last, true);
      }
      ASSERT_EQ(ranges.empty(), std::find(model.begin(), model.end(), true) == model.end());
    }
  });
}

TEST(ByteRanges, ForgetGapsWhereThereAreMany) {
  ByteRanges ranges;
  for (uint64_t i = 1; i <= 1'000'000; ++i) ranges.add(10 * i, 10 * i + 1);
  EXPECT_FALSE(ranges.touches(0, 10));
  for (uint64_t i = 1; i <= 1'000'000; ++i) ASSERT_TRUE(ranges.touches(10 * i, 10 * i + 1)) << i;
  EXPECT_TRUE(ranges.touches(15, 16)) << "between the first two";
  EXPECT_FALSE(ranges.touches(10'000'001, 20'000'000));
}

}  // namespace
}  // namespace tailrace::process
