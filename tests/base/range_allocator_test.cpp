// RangeAllocator against a plain model: a map of the ranges that are in use.
#include "base/memory/range_allocator.hpp"

#include <gtest/gtest.h>

#include <iterator>
#include <map>
#include <optional>
#include <vector>

#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kPage = RangeAllocator::kPage;

// The allocator and a model of it.
class Checked {
 public:
  Checked(uint64_t size, uint32_t max_nodes) : ranges_(size, max_nodes), max_nodes_(max_nodes) {}

  bool allocate(uint64_t bytes) {
    const auto range = ranges_.allocate(bytes);
    if (!range) {
      expect_refusal_was_right(bytes);
      return false;
    }
    EXPECT_EQ(range->size, RangeAllocator::rounded(bytes));
    EXPECT_GE(range->size, bytes);
    EXPECT_EQ(range->offset % (range->size >= kPage ? kPage : RangeAllocator::kGrain), 0u);
    EXPECT_LE(range->offset + range->size, ranges_.size());
    EXPECT_LT(range->node, max_nodes_);
    EXPECT_TRUE(ranges_.used(range->node));
    expect_nothing_overlaps(*range);
    used_[range->offset] = *range;
    held_ += range->size;
    EXPECT_EQ(ranges_.held(), held_);
    return true;
  }

  void free_one(size_t which) {
    const auto found = std::next(used_.begin(), static_cast<ptrdiff_t>(which));
    held_ -= found->second.size;
    ranges_.free(found->second.node);
    EXPECT_FALSE(ranges_.used(found->second.node));
    used_.erase(found);
    EXPECT_EQ(ranges_.held(), held_);
  }

  void free_all(Dice& dice) {
    while (!used_.empty()) free_one(dice.below(used_.size()));
    EXPECT_EQ(ranges_.held(), 0u);
  }

  size_t used() const { return used_.size(); }

 private:
  void expect_nothing_overlaps(const RangeAllocator::Range& range) const {
    const auto after = used_.lower_bound(range.offset);
    if (after != used_.end()) {
      EXPECT_LE(range.offset + range.size, after->first);
    }
    if (after != used_.begin()) {
      const auto& before = std::prev(after)->second;
      EXPECT_LE(before.offset + before.size, range.offset);
    }
  }

  // A range may be refused for lack of nodes, or if no hole is clearly larger: good fit examines only a few of the
  // holes that are hardly larger than the request.
  void expect_refusal_was_right(uint64_t bytes) const {
    uint64_t end = 0;
    uint64_t largest = 0;
    uint32_t holes = 0;
    const auto hole = [&](uint64_t begin) {
      if (begin > end) ++holes;
      largest = std::max(largest, begin - end);
    };
    for (const auto& [offset, range] : used_) {
      hole(offset);
      end = offset + range.size;
    }
    hole(ranges_.size());
    if (used_.size() + holes + 2 > max_nodes_) return;
    const uint64_t size = RangeAllocator::rounded(bytes);
    EXPECT_LT(largest, size + size / 8 + 2 * kPage) << "refused " << bytes << " bytes";
    if (used_.empty()) {
      EXPECT_GT(bytes, ranges_.size());
    }
  }

  RangeAllocator ranges_;
  const uint32_t max_nodes_;
  std::map<uint64_t, RangeAllocator::Range> used_;  // by offset
  uint64_t held_ = 0;
};

uint64_t some_size(Dice& dice, uint64_t all) {
  switch (dice.below(4)) {
    case 0: return dice.below(200);
    case 1: return dice.between(kPage - 70, kPage + 70);
    case 2: return dice.below(10 * kPage);
    default: return dice.below(all / 3);
  }
}

TEST(RangeAllocator, RandomProgramsAgreeWithAPlainModel) {
  for_seeds(60, [](uint64_t seed) {
    Dice dice(seed);
    const uint64_t size = kPage * dice.between(1, 400);
    const auto nodes = static_cast<uint32_t>(dice.between(4, 300));
    Checked checked(size, nodes);
    for (int step = 0; step < 600; ++step) {
      if (checked.used() > 0 && dice.chance(45)) {
        checked.free_one(dice.below(checked.used()));
      } else {
        checked.allocate(some_size(dice, size));
      }
    }
    checked.free_all(dice);
    EXPECT_TRUE(checked.allocate(size)) << "what is free was not joined again";
  });
}

TEST(RangeAllocator, RoundsToLinesAndPages) {
  const std::pair<uint64_t, uint64_t> table[] = {{0, 64},      {1, 64},      {64, 64},     {65, 128},   {4032, 4032},
                                                 {4033, 4096}, {4096, 4096}, {4097, 8192}, {8192, 8192}};
  for (const auto& [bytes, rounded] : table) EXPECT_EQ(RangeAllocator::rounded(bytes), rounded) << bytes;
}

TEST(RangeAllocator, TheWholeRangeAndNotAByteMore) {
  RangeAllocator ranges(16 * kPage, 8);
  EXPECT_FALSE(ranges.allocate(16 * kPage + 1));
  EXPECT_FALSE(ranges.allocate(~uint64_t{0}));
  const auto whole = ranges.allocate(16 * kPage);
  ASSERT_TRUE(whole);
  EXPECT_EQ(ranges.held(), ranges.size());
  EXPECT_FALSE(ranges.allocate(1));
  ranges.free(whole->node);
  EXPECT_TRUE(ranges.allocate(16 * kPage - 1));
}

TEST(RangeAllocator, RunsOutOfNodesWithoutHarm) {
  for (uint32_t nodes = 4; nodes < 12; ++nodes) {
    RangeAllocator ranges(64 * kPage, nodes);
    std::vector<uint32_t> used;
    while (const auto range = ranges.allocate(64)) used.push_back(range->node);
    EXPECT_GE(used.size(), nodes - 3) << nodes;
    EXPECT_LT(used.size(), nodes) << nodes;
    for (size_t i = 0; i < used.size(); i += 2) ranges.free(used[i]);
    for (size_t i = 1; i < used.size(); i += 2) ranges.free(used[i]);
    EXPECT_EQ(ranges.held(), 0u);
    EXPECT_TRUE(ranges.allocate(64 * kPage)) << nodes;
  }
}

TEST(RangeAllocatorDeathTest, FreeingTwiceIsADefect) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  RangeAllocator ranges(kPage, 4);
  const auto range = ranges.allocate(64);
  ASSERT_TRUE(range);
  ranges.free(range->node);
  EXPECT_DEATH(ranges.free(range->node), "REQUIRE");
  EXPECT_DEATH(ranges.free(12345), "REQUIRE");
}

}  // namespace
}  // namespace tailrace::impl
