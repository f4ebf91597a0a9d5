// Lists of extents: which are refused, and the rest of a list without some bytes.
#include "model/extents.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

std::string refusal(const std::vector<Extent>& extents) {
  const Status status = check_extents(extents);
  return status.ok() ? "" : status.fault().message;
}

TEST(Extents, GoodListsInAnyOrder) {
  EXPECT_EQ(refusal({{0, 1}}), "");
  EXPECT_EQ(refusal({{10, 5}, {0, 10}, {15, 1}}), "");
  EXPECT_EQ(refusal({{kMostOffset - 1, 1}, {uint64_t{5} << 30, 4}}), "");
}

// Short lists and long ones, of offsets that have much or little in common.
TEST(Extents, AnyOrderBecomesOrder) {
  for_seeds(40, [](uint64_t seed) {
    Dice dice(seed);
    const uint64_t count = dice.chance(50) ? dice.between(2, 100) : dice.between(2000, 6000);
    const uint64_t apart = uint64_t{1} << dice.below(45);
    std::set<uint64_t> offsets;
    while (offsets.size() < count) offsets.insert(apart * dice.below(uint64_t{1} << 17));
    std::vector<Piece> expected;
    for (const uint64_t offset : offsets) {
      expected.push_back({{offset, 1}, reinterpret_cast<std::byte*>(expected.size() + 1)});
    }
    std::vector<Piece> pieces = expected;
    for (size_t i = pieces.size(); i > 1; --i) std::swap(pieces[i - 1], pieces[dice.below(i)]);
    put_in_order(pieces);
    ASSERT_EQ(pieces.size(), expected.size());
    for (size_t i = 0; i < pieces.size(); ++i) {
      ASSERT_EQ(pieces[i].extent.offset, expected[i].extent.offset) << "piece " << i;
      ASSERT_EQ(pieces[i].memory, expected[i].memory) << "piece " << i;
    }
  });
}

TEST(Extents, RefusalsNameThePiece) {
  EXPECT_EQ(refusal({}), "the list of extents is empty, expected at least one piece");
  EXPECT_EQ(refusal({{0, 1}, {5, 0}}), "piece 1 (offset 5, 0 bytes) is empty, expected at least a byte");
  EXPECT_EQ(refusal({{20, 5}, {0, 10}, {24, 2}}),
            "piece 2 (offset 24, 2 bytes) overlaps piece 0 (offset 20, 5 bytes): the pieces of one request may not "
            "overlap");
  EXPECT_EQ(refusal({{0, 10}, {9, 1}}),
            "piece 1 (offset 9, 1 byte) overlaps piece 0 (offset 0, 10 bytes): the pieces of one request may not "
            "overlap");
  for (const Extent& extent : {Extent{kMostOffset, 1}, Extent{UINT64_MAX, 2}, Extent{1, kMostOffset},
                               Extent{kMostOffset - 1, UINT64_MAX}, Extent{static_cast<uint64_t>(-8), 4}}) {
    EXPECT_NE(refusal({{0, 1}, extent}).find("piece 1 (offset"), std::string::npos);
    EXPECT_NE(refusal({{0, 1}, extent}).find("goes past 2^62"), std::string::npos);
  }
  EXPECT_EQ(check_extents(std::vector<Extent>{}).code(), TAILRACE_INVALID_ARGUMENT);
}

TEST(Extents, WithoutAgreesWithSetsOfBytes) {
  for_seeds(300, [](uint64_t seed) {
    Dice dice(seed);
    std::byte memory[400];
    std::vector<Piece> pieces;
    std::set<uint64_t> bytes;
    uint64_t at = 0;
    for (uint64_t i = dice.between(1, 6); i > 0; --i) {
      at += dice.below(6);
      pieces.push_back({{at, dice.between(1, 12)}, memory + 2 * at});
      for (; at < pieces.back().extent.end(); ++at) bytes.insert(at);
    }
    std::vector<Extent> cuts;
    for (uint64_t i = dice.below(6); i > 0; --i) {
      cuts.push_back({dice.below(60), dice.between(1, 15)});
      for (uint64_t cut = cuts.back().offset; cut < cuts.back().end(); ++cut) bytes.erase(cut);
    }
    const std::vector<Piece> left = without(pieces, cuts);
    EXPECT_TRUE(in_order(left));
    std::set<uint64_t> found;
    for (const Piece& piece : left) {
      EXPECT_GT(piece.extent.length, 0u);
      for (uint64_t i = piece.extent.offset; i < piece.extent.end(); ++i) found.insert(i);
      for (const Piece& whole : pieces) {
        if (!whole.extent.overlaps(piece.extent)) continue;
        EXPECT_EQ(piece.memory - whole.memory, static_cast<ptrdiff_t>(piece.extent.offset - whole.extent.offset));
      }
    }
    EXPECT_EQ(found, bytes);
  });
}

}  // namespace
}  // namespace tailrace::impl
