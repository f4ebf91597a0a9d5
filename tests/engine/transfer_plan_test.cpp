// next_transfer: how accesses are divided into transfers, as tables and as a property. Addresses are never touched.
#include "engine/execute/transfer_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kPage = 4096;

std::byte* address(uint64_t at) { return reinterpret_cast<std::byte*>(at); }
uint64_t number(const void* memory) { return reinterpret_cast<uint64_t>(memory); }

Access access_at(uint64_t offset, const std::vector<iovec>& segments) {
  Access access;
  access.extent.offset = offset;
  for (const iovec& segment : segments) access.extent.length += segment.iov_len;
  access.segments = segments;
  return access;
}

struct Step {
  uint64_t offset;
  uint64_t length;
  bool direct;
  size_t segments;
  bool operator==(const Step&) const = default;
};

std::ostream& operator<<(std::ostream& out, const Step& step) {
  return out << "{" << step.offset << ", " << step.length << ", " << step.direct << ", " << step.segments << "}";
}

std::vector<Step> all_steps(const Access& access, Extent range, const TransferLimits& limits) {
  std::vector<Step> steps;
  while (range.length > 0) {
    const PlannedTransfer transfer = next_transfer(access, range, limits);
    steps.push_back({transfer.extent.offset, transfer.extent.length, transfer.direct, transfer.segments.size()});
    range.offset += transfer.extent.length;
    range.length -= transfer.extent.length;
  }
  return steps;
}

constexpr TransferLimits kDirect{8 * kPage, 2 * kPage, 4, kPage};
const uint64_t kBase = 1 << 20;

TEST(NextTransfer, RaggedHeadBodyTail) {
  const Access access = access_at(100, {{address(kBase + 100), 12 * kPage}});
  const std::vector<Step> expected = {{100, kPage - 100, false, 1},
                                      {kPage, 8 * kPage, true, 1},
                                      {9 * kPage, 3 * kPage, true, 1},
                                      {12 * kPage, 100, false, 1}};
  EXPECT_EQ(all_steps(access, access.extent, kDirect), expected);
}

TEST(NextTransfer, AlignedGoesDirectWhole) {
  const Access access = access_at(kPage, {{address(kBase), 4 * kPage}});
  EXPECT_EQ(all_steps(access, access.extent, kDirect), (std::vector<Step>{{kPage, 4 * kPage, true, 1}}));
}

TEST(NextTransfer, MemoryThatLiesOtherwiseThanTheFileGoesThroughTheCache) {
  const Access access = access_at(kPage, {{address(kBase + 8), 10 * kPage}});
  const std::vector<Step> expected = {{kPage, 8 * kPage, false, 1}, {9 * kPage, 2 * kPage, false, 1}};
  EXPECT_EQ(all_steps(access, access.extent, kDirect), expected);
}

TransferLimits with_bounce(uint64_t bytes) {
  TransferLimits limits = kDirect;
  limits.bounce = bytes;
  return limits;
}

TEST(NextTransfer, ALongRunThatLiesOtherwiseGoesDirectByAnAlignedBuffer) {
  const Access access = access_at(kPage, {{address(kBase + 16), 10 * kPage + 100}});
  const std::vector<Step> expected = {{kPage, 4 * kPage, true, 1},
                                      {5 * kPage, 4 * kPage, true, 1},
                                      {9 * kPage, 2 * kPage + 100, false, 1}};  // too short to be worth it
  EXPECT_EQ(all_steps(access, access.extent, with_bounce(4 * kPage)), expected);
  EXPECT_TRUE(next_transfer(access, access.extent, with_bounce(4 * kPage)).bounced);
  EXPECT_FALSE(next_transfer(access, access.extent, kDirect).bounced);
}

TEST(NextTransfer, SuchARunMayHaveARaggedHead) {
  const Access access = access_at(kPage + 10, {{address(kBase), 4 * kPage}});
  const std::vector<Step> expected = {
      {kPage + 10, kPage - 10, false, 1}, {2 * kPage, 3 * kPage, true, 1}, {5 * kPage, 10, false, 1}};
  EXPECT_EQ(all_steps(access, access.extent, with_bounce(4 * kPage)), expected);
}

// Between short runs before it and one after it that needs no buffer.
TEST(NextTransfer, SuchARunIsATransferOfItsOwn) {
  const Access access = access_at(kPage - 10, {{address(kBase + 3), 10},
                                               {address(2 * kBase + 8), 4 * kPage},
                                               {address(3 * kBase), 3 * kPage},
                                               {address(4 * kBase), 20}});
  const std::vector<Step> expected = {{kPage - 10, 10, false, 1},
                                      {kPage, 4 * kPage, true, 1},
                                      {5 * kPage, 3 * kPage, true, 1},
                                      {8 * kPage, 20, false, 1}};
  EXPECT_EQ(all_steps(access, access.extent, with_bounce(8 * kPage)), expected);
}

// 16 segments of half a page: gathered by the device they would be 16 segments of one request.
TEST(NextTransfer, ManyShortSegmentsAreCopiedIntoOneBuffer) {
  std::vector<iovec> segments;
  for (uint64_t i = 0; i < 16; ++i) segments.push_back({address(kBase * (i + 1)), kPage / 2});
  TransferLimits limits = with_bounce(4 * kPage);
  limits.max_segments = 32;
  const Access access = access_at(kPage, segments);
  EXPECT_EQ(all_steps(access, access.extent, limits),
            (std::vector<Step>{{kPage, 4 * kPage, true, 8}, {5 * kPage, 4 * kPage, true, 8}}));
  EXPECT_TRUE(next_transfer(access, access.extent, limits).bounced);
}

// The head, up to the first page of the file, is one transfer of several segments.
TEST(NextTransfer, SuchSegmentsMayHaveARaggedHead) {
  std::vector<iovec> segments;
  for (uint64_t i = 0; i < 80; ++i) segments.push_back({address(kBase + 1000 * i), 500});
  TransferLimits limits = with_bounce(8 * kPage);
  limits.max_segments = 100;
  const Access access = access_at(kPage + 96, segments);
  const std::vector<Step> expected = {
      {kPage + 96, kPage - 96, false, 8}, {2 * kPage, 8 * kPage, true, 66}, {10 * kPage, 3232, false, 7}};
  EXPECT_EQ(all_steps(access, access.extent, limits), expected);
}

// Those of a page need no buffer, but a device takes few of them in one request.
TEST(NextTransfer, AlsoIfTheyLieOnPages) {
  std::vector<iovec> segments;
  for (uint64_t i = 0; i < 8; ++i) segments.push_back({address(kBase * (i + 1)), kPage});
  TransferLimits limits = with_bounce(8 * kPage);
  limits.max_segments = 32;
  limits.least_segment = 2 * kPage;
  const Access access = access_at(kPage, segments);
  EXPECT_TRUE(next_transfer(access, access.extent, limits).bounced);
  limits.least_segment = kPage;
  EXPECT_FALSE(next_transfer(access, access.extent, limits).bounced);
  EXPECT_EQ(all_steps(access, access.extent, limits), (std::vector<Step>{{kPage, 8 * kPage, true, 8}}));
}

// The long one goes by itself, without a copy.
TEST(NextTransfer, ShortSegmentsAreCopiedUpToALongOne) {
  std::vector<iovec> segments;
  for (uint64_t i = 0; i < 8; ++i) segments.push_back({address(kBase * (i + 1)), kPage / 2});
  segments.push_back({address(kBase * 10), 6 * kPage});
  TransferLimits limits = with_bounce(16 * kPage);
  limits.max_segments = 32;
  const Access access = access_at(kPage, segments);
  EXPECT_EQ(all_steps(access, access.extent, limits),
            (std::vector<Step>{{kPage, 4 * kPage, true, 8}, {5 * kPage, 6 * kPage, true, 1}}));
}

TEST(NextTransfer, NothingGoesDirectWhereItCannot) {
  TransferLimits limits = kDirect;
  limits.direct_alignment = 0;
  const Access access = access_at(kPage, {{address(kBase), 4 * kPage}});
  EXPECT_EQ(all_steps(access, access.extent, limits), (std::vector<Step>{{kPage, 4 * kPage, false, 1}}));
}

TEST(NextTransfer, ShortRunsGoThroughTheCache) {
  const Access access = access_at(0, {{address(kBase), 2 * kPage - 1}});
  EXPECT_EQ(all_steps(access, access.extent, kDirect), (std::vector<Step>{{0, 2 * kPage - 1, false, 1}}));
}

TEST(NextTransfer, SmallSegmentsAreGatheredUpToTheLimit) {
  std::vector<iovec> segments;
  for (uint64_t i = 0; i < 6; ++i) segments.push_back({address(kBase + 1000 * i), 10});
  const Access access = access_at(5, segments);
  EXPECT_EQ(all_steps(access, access.extent, kDirect), (std::vector<Step>{{5, 40, false, 4}, {45, 20, false, 2}}));
}

TEST(NextTransfer, ALongRunAmongSmallOnesIsATransferOfItsOwn) {
  const Access access =
      access_at(kPage - 10, {{address(3), 10}, {address(kBase), 3 * kPage}, {address(7), 20}, {address(1007), 20}});
  const std::vector<Step> expected = {
      {kPage - 10, 10, false, 1}, {kPage, 3 * kPage, true, 1}, {4 * kPage, 40, false, 2}};
  EXPECT_EQ(all_steps(access, access.extent, kDirect), expected);
}

TEST(NextTransfer, RunsThatMeetAtPagesGoDirectTogether) {
  std::vector<iovec> segments;
  for (uint64_t i = 0; i < 6; ++i) segments.push_back({address(kBase * (i + 1)), kPage});
  const Access access = access_at(kPage, segments);
  const std::vector<Step> expected = {{kPage, 4 * kPage, true, 4}, {5 * kPage, 2 * kPage, true, 2}};
  EXPECT_EQ(all_steps(access, access.extent, kDirect), expected);
}

TEST(NextTransfer, WhatGoesThroughTheCacheMayHaveALimitOfItsOwn) {
  TransferLimits limits = kDirect;
  limits.largest_cached = 3 * kPage;
  const Access access = access_at(kPage, {{address(kBase + 8), 4 * kPage}, {address(kBase), 4 * kPage}});
  const std::vector<Step> expected = {
      {kPage, 3 * kPage, false, 1}, {4 * kPage, kPage, false, 1}, {5 * kPage, 4 * kPage, true, 1}};
  EXPECT_EQ(all_steps(access, access.extent, limits), expected);
}

TEST(NextTransfer, SuchRunsMayHaveARaggedHeadAndTail) {
  const Access access = access_at(
      100, {{address(kBase + 100), kPage - 100}, {address(2 * kBase), kPage}, {address(3 * kBase), kPage + 7}});
  const std::vector<Step> expected = {
      {100, kPage - 100, false, 1}, {kPage, 2 * kPage, true, 2}, {3 * kPage, 7, false, 1}};
  EXPECT_EQ(all_steps(access, access.extent, kDirect), expected);
}

TEST(NextTransfer, RunsThatMeetElsewhereGoThroughTheCache) {
  const Access access = access_at(0, {{address(kBase), kPage + 512}, {address(2 * kBase + 512), kPage - 512}});
  EXPECT_EQ(all_steps(access, access.extent, kDirect), (std::vector<Step>{{0, 2 * kPage, false, 2}}));
}

TEST(NextTransfer, AStretchMayBeginWhereAShorterOneEnds) {
  const Access access = access_at(
      0, {{address(kBase), kPage + 512}, {address(2 * kBase + 512), 2 * kPage - 512}, {address(3 * kBase), kPage}});
  const std::vector<Step> expected = {
      {0, kPage + 512, false, 1}, {kPage + 512, kPage - 512, false, 1}, {2 * kPage, 2 * kPage, true, 2}};
  EXPECT_EQ(all_steps(access, access.extent, kDirect), expected);
}

// A direct transfer that ended early did so at a sector; what is left starts in the middle of a page.
TEST(NextTransfer, RestartsAtASector) {
  const Access access = access_at(0, {{address(kBase), 6 * kPage}});
  const std::vector<Step> expected = {{512, kPage - 512, false, 1}, {kPage, 5 * kPage, true, 1}};
  EXPECT_EQ(all_steps(access, {512, 6 * kPage - 512}, kDirect), expected);
  const std::vector<Step> inside = {{512, kPage - 512, false, 1}, {kPage, 2 * kPage, true, 1}};
  EXPECT_EQ(all_steps(access, {512, 3 * kPage - 512}, kDirect), inside);
}

TEST(NextTransfer, PartsOfAnAccess) {
  const Access access = access_at(0, {{address(kBase), 100}, {address(2 * kBase), 100}});
  const PlannedTransfer transfer = next_transfer(access, {50, 100}, kDirect);
  EXPECT_EQ(transfer.extent.length, 100u);
  ASSERT_EQ(transfer.segments.size(), 2u);
  EXPECT_EQ(number(transfer.segments[0].iov_base), kBase + 50);
  EXPECT_EQ(transfer.segments[1].iov_len, 50u);
}

// Returns where the byte at `offset` of the access is in memory.
uint64_t memory_of(const Access& access, uint64_t offset) {
  uint64_t skip = offset - access.extent.offset;
  for (const iovec& segment : access.segments) {
    if (skip < segment.iov_len) return number(segment.iov_base) + skip;
    skip -= segment.iov_len;
  }
  ADD_FAILURE() << "outside";
  return 0;
}

void expect_transfer(const Access& access, const Extent& range, const TransferLimits& limits,
                     const PlannedTransfer& transfer) {
  EXPECT_EQ(transfer.extent.offset, range.offset);
  EXPECT_GT(transfer.extent.length, 0u);
  EXPECT_LE(transfer.extent.end(), range.end());
  EXPECT_LE(transfer.extent.length, limits.largest);
  EXPECT_LE(transfer.segments.size(), limits.max_segments);
  uint64_t at = transfer.extent.offset;
  for (const iovec& segment : transfer.segments) {
    EXPECT_GT(segment.iov_len, 0u);
    EXPECT_EQ(number(segment.iov_base), memory_of(access, at));
    EXPECT_EQ(number(segment.iov_base) + segment.iov_len - 1, memory_of(access, at + segment.iov_len - 1));
    if (transfer.direct) {
      EXPECT_TRUE(transfer.bounced || number(segment.iov_base) % limits.direct_alignment == 0);
      EXPECT_TRUE(transfer.bounced || segment.iov_len % limits.direct_alignment == 0);
    }
    at += segment.iov_len;
  }
  EXPECT_EQ(at, transfer.extent.end());
  if (transfer.direct) {
    EXPECT_EQ(transfer.extent.offset % limits.direct_alignment, 0u);
    EXPECT_EQ(transfer.extent.length % limits.direct_alignment, 0u);
  }
  if (transfer.bounced) {
    EXPECT_TRUE(transfer.direct);
    EXPECT_LE(transfer.extent.length, limits.bounce);
  }
}

TEST(NextTransfer, CoversEveryAccessOnce) {
  for_seeds(300, [](uint64_t seed) {
    Dice dice(seed);
    const uint32_t alignment = std::vector<uint32_t>{0, 512, 4096}[dice.below(3)];
    const TransferLimits limits{std::max<uint32_t>(alignment, 512) * dice.between(1, 8),
                                dice.below(3 * kPage),
                                static_cast<uint32_t>(dice.between(1, 5)),
                                alignment,
                                dice.chance(50) ? UINT64_MAX : dice.between(1, 2 * kPage),
                                dice.chance(50) ? 0 : kPage * dice.between(1, 4),
                                kPage * dice.below(4)};
    std::vector<iovec> segments;
    const uint64_t offset = dice.chance(50) ? kPage * dice.below(5) : dice.below(5 * kPage);
    uint64_t end = offset;
    for (uint64_t i = dice.between(1, 6); i > 0; --i) {
      const uint64_t length = dice.chance(50) ? dice.between(1, 5 * kPage) : kPage * dice.between(1, 6);
      const uint64_t memory = kBase * i + (dice.chance(60) ? end % kPage : dice.below(kPage));
      segments.push_back({address(memory), length});
      end += length;
    }
    const Access access = access_at(offset, segments);
    Extent range = access.extent;
    while (range.length > 0 && !::testing::Test::HasFailure()) {
      const PlannedTransfer transfer = next_transfer(access, range, limits);
      expect_transfer(access, range, limits, transfer);
      // Sometimes the storage moves only a part; of a direct transfer, whole sectors.
      uint64_t moved = transfer.extent.length;
      if (dice.chance(30)) moved = transfer.direct ? 512 * dice.between(1, moved / 512) : dice.between(1, moved);
      range = {range.offset + moved, range.length - moved};
    }
  });
}

}  // namespace
}  // namespace tailrace::impl
