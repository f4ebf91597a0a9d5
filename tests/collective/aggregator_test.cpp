// How an aggregator merges the parts of its members into cycles.
#include "collective/write/aggregator.hpp"

#include <gtest/gtest.h>

#include "list_data.hpp"

namespace {

using namespace tailrace::collective;
using test::ListData;

Message part(const ListData& data, bool is_last = true) { return make_part(data, 0, data.bytes(), is_last); }

TEST(Aggregator, WaitsForEachMember) {
  Aggregator aggregator(2, 100, false);
  aggregator.take(0, part({{{0, 10}}, 'a'}));
  EXPECT_FALSE(aggregator.advance());
  aggregator.take(1, part({{{10, 10}}, 'b'}));
  ASSERT_TRUE(aggregator.advance());
  EXPECT_EQ(aggregator.cycle().extents.size(), 1U) << "the pieces meet";
  EXPECT_EQ(aggregator.cycle().bytes.size(), 20U);
  EXPECT_FALSE(aggregator.advance());
  EXPECT_TRUE(aggregator.has_ended());
}

TEST(Aggregator, GivesOutCyclesOfTheirSize) {
  Aggregator aggregator(2, 16, false);
  aggregator.take(0, part({{{0, 4}, {8, 4}, {16, 4}, {24, 4}}, 'a'}));
  aggregator.take(1, part({{{4, 4}, {12, 4}, {20, 4}, {28, 4}}, 'b'}));
  for (const uint64_t begin : {0, 16}) {
    ASSERT_TRUE(aggregator.advance());
    ASSERT_EQ(aggregator.cycle().extents.size(), 1U);
    EXPECT_EQ(aggregator.cycle().extents[0].offset, begin);
    EXPECT_EQ(aggregator.cycle().extents[0].length, 16U);
    EXPECT_EQ(std::string(reinterpret_cast<const char*>(aggregator.cycle().bytes.data()), 16), "aaaabbbbaaaabbbb");
  }
  EXPECT_FALSE(aggregator.advance());
  EXPECT_TRUE(aggregator.has_ended());
}

TEST(Aggregator, WantsTwoPartsAheadAndNoneBehindTheLast) {
  Aggregator aggregator(2, 1000, false);
  EXPECT_TRUE(aggregator.wants(0));
  aggregator.take(0, part({{{0, 10}}, 'a'}, false));
  EXPECT_TRUE(aggregator.wants(0));
  aggregator.take(0, part({{{20, 10}}, 'a'}, false));
  EXPECT_FALSE(aggregator.wants(0));
  aggregator.take(1, part({{{100, 10}}, 'b'}));
  EXPECT_FALSE(aggregator.wants(1));
  EXPECT_FALSE(aggregator.advance()) << "member 0 may have bytes below 100";
  EXPECT_TRUE(aggregator.wants(0));
  aggregator.take(0, part({{}, 'a'}));
  ASSERT_TRUE(aggregator.advance());
  EXPECT_EQ(aggregator.cycle().extents.size(), 3U);
  EXPECT_TRUE(aggregator.has_ended());
}

TEST(Aggregator, WritesOverlappingBytesOnce) {
  Aggregator aggregator(2, 1000, false);
  aggregator.take(0, part({{{0, 10}, {20, 10}}, 'a'}));
  aggregator.take(1, part({{{5, 20}}, 'b'}));
  ASSERT_TRUE(aggregator.advance());
  ASSERT_EQ(aggregator.cycle().extents.size(), 1U);
  EXPECT_EQ(aggregator.cycle().extents[0].length, 30U);
  EXPECT_EQ(aggregator.cycle().bytes.size(), 30U);
}

TEST(Aggregator, WithStaticSegmentationACycleIsAPartOfEachMember) {
  Aggregator aggregator(2, 8, true);
  aggregator.take(0, part({{{0, 4}, {100, 4}}, 'a'}, false));
  aggregator.take(0, part({{{200, 8}}, 'a'}));
  EXPECT_FALSE(aggregator.advance());
  aggregator.take(1, part({{{4, 8}}, 'b'}));
  ASSERT_TRUE(aggregator.advance());
  EXPECT_EQ(aggregator.cycle().bytes.size(), 16U);
  ASSERT_EQ(aggregator.cycle().extents.size(), 2U);
  EXPECT_EQ(aggregator.cycle().extents[0].length, 12U);
  ASSERT_TRUE(aggregator.advance());
  EXPECT_EQ(aggregator.cycle().bytes.size(), 8U);
  EXPECT_FALSE(aggregator.advance());
  EXPECT_TRUE(aggregator.has_ended());
}

}  // namespace
