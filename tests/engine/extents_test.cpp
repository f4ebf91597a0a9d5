// Lists of extents: their order, and the rest of a list without some bytes.
#include "model/extents.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

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
