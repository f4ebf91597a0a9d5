// FlatType against a plain type map: a list of all bytes of a type.
#include "mpiio/types/flat_type.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "mpiio/types/view.hpp"
#include "testing/dice.hpp"
#include "testing/seeds.hpp"

namespace tailrace::mpiio {
namespace {

TypePointer predefined(uint64_t size) {
  auto tree = std::make_shared<TypeTree>();
  tree->bytes = {{0, size}};
  tree->extent = static_cast<int64_t>(size);
  return tree;
}

TypePointer vector_of(TypePointer child, int64_t repeats, int64_t length, int64_t stride) {
  auto tree = std::make_shared<TypeTree>();
  tree->extent = (repeats - 1) * stride + length * child->extent;
  tree->parts = {{std::move(child), {{0, length}}, repeats, stride}};
  return tree;
}

// The offsets of all bytes, in the order of the type map.
void append(const TypeTree& tree, int64_t at, std::vector<int64_t>& bytes) {
  for (const TypeBytes& piece : tree.bytes) {
    for (uint64_t i = 0; i < piece.length; ++i) bytes.push_back(at + piece.displacement + static_cast<int64_t>(i));
  }
  for (const TypePart& part : tree.parts) {
    for (int64_t repeat = 0; repeat < part.repeats; ++repeat) {
      for (const TypeBlock& block : part.blocks) {
        for (int64_t i = 0; i < block.count; ++i) {
          append(*part.child, at + repeat * part.stride + block.displacement + i * part.child->extent, bytes);
        }
      }
    }
  }
}

std::vector<int64_t> type_map(const TypeTree& tree) {
  std::vector<int64_t> bytes;
  append(tree, 0, bytes);
  return bytes;
}

std::vector<int64_t> bytes_of(const FlatType& type) {
  std::vector<int64_t> bytes;
  for (const Run& run : type.runs()) {
    for (uint64_t i = 0; i < run.count; ++i) {
      for (uint64_t at = 0; at < run.length; ++at) {
        bytes.push_back(run.offset + static_cast<int64_t>(i) * run.stride + static_cast<int64_t>(at));
      }
    }
  }
  return bytes;
}

TEST(FlatType, AColumnIsOneRun) {
  const FlatType column(*vector_of(predefined(8), 1'000'000, 1, 80));
  ASSERT_EQ(column.runs().size(), 1U);
  EXPECT_EQ(column.runs()[0].count, 1'000'000U);
  EXPECT_EQ(column.size(), 8'000'000U);
  EXPECT_FALSE(column.is_contiguous());
  EXPECT_TRUE(column.ascends());
}

TEST(FlatType, PiecesThatMeetAreOne) {
  const FlatType all(*vector_of(predefined(4), 100, 5, 20));
  ASSERT_EQ(all.runs().size(), 1U);
  EXPECT_EQ(all.runs()[0].length, 2000U);
  EXPECT_TRUE(all.is_contiguous());
}

// Rows of which each has its pieces: of the elements of each row, the first two of every three.
TEST(FlatType, ColumnsInRowsAreARunForEachRow) {
  const FlatType rows(*vector_of(vector_of(predefined(8), 50, 2, 24), 40, 1, 10'000));
  EXPECT_EQ(rows.runs().size(), 40U);
  EXPECT_EQ(rows.size(), 40U * 50 * 16);
}

TEST(FlatType, OfNothing) {
  const FlatType nothing(*vector_of(predefined(8), 3, 0, 24));
  EXPECT_EQ(nothing.size(), 0U);
  std::vector<tailrace_extent> found;
  nothing.find(0, 0, 0, found);
  EXPECT_TRUE(found.empty());
}

// A tree of a few levels. With `ascending`, one that may be a file type.
TypePointer random_tree(impl::Dice& dice, bool ascending) {
  TypePointer tree = predefined(dice.between(1, 9));
  for (uint64_t level = dice.below(4); level > 0; --level) {
    auto outer = std::make_shared<TypeTree>();
    TypePart part;
    part.child = tree;
    int64_t at = 0;
    for (uint64_t i = dice.between(1, 4); i > 0; --i) {
      const auto count = static_cast<int64_t>(dice.below(4));
      if (!ascending && dice.chance(30)) at = static_cast<int64_t>(dice.below(100)) - 50;
      at += static_cast<int64_t>(dice.below(3) * dice.below(12));
      part.blocks.push_back({at, count});
      at += count * std::max<int64_t>(tree->extent, 0);
    }
    part.repeats = static_cast<int64_t>(dice.between(1, 3));
    part.stride = at + static_cast<int64_t>(dice.below(20));
    outer->extent = (part.repeats - 1) * part.stride + at + static_cast<int64_t>(dice.below(2) * dice.below(30));
    outer->parts = {part};
    tree = outer;
  }
  return tree;
}

TEST(FlatType, HasTheBytesOfTheTypeMap) {
  impl::for_seeds(500, [](uint64_t seed) {
    impl::Dice dice(seed);
    const TypePointer tree = random_tree(dice, dice.chance(50));
    const FlatType flat(*tree);
    EXPECT_EQ(bytes_of(flat), type_map(*tree));
    EXPECT_EQ(flat.size(), type_map(*tree).size());
  });
}

TEST(FlatType, ViewsAreCopiesOfTheTypeMap) {
  impl::for_seeds(500, [](uint64_t seed) {
    impl::Dice dice(seed);
    const TypePointer tree = random_tree(dice, true);
    const auto flat = std::make_shared<const FlatType>(*tree);
    if (flat->size() == 0) return;
    ASSERT_TRUE(flat->ascends());
    const std::vector<int64_t> map = type_map(*tree);
    const uint64_t begin = dice.below(5 * map.size());
    const uint64_t length = dice.below(3 * map.size());
    const uint64_t displacement = dice.below(1000);
    std::vector<uint64_t> expected;
    for (uint64_t i = begin; i < begin + length; ++i) {
      expected.push_back(displacement + static_cast<uint64_t>(map[i % map.size()] +
                                                              static_cast<int64_t>(i / map.size()) * tree->extent));
    }
    std::vector<uint64_t> found;
    uint64_t end = UINT64_MAX;
    for (const tailrace_extent& extent : View(displacement, 1, flat).find(begin, length)) {
      EXPECT_NE(extent.offset, end) << "pieces that meet";
      for (uint64_t i = 0; i < extent.length; ++i) found.push_back(extent.offset + i);
      end = extent.offset + extent.length;
    }
    EXPECT_EQ(found, expected);
  });
}

// Counts the bytes below any offset, one by one.
TEST(FlatType, ViewsKnowHowManyBytesLieBelowAnOffset) {
  impl::for_seeds(500, [](uint64_t seed) {
    impl::Dice dice(seed);
    const TypePointer tree = random_tree(dice, true);
    const auto flat = std::make_shared<const FlatType>(*tree);
    if (flat->size() == 0 || tree->extent == 0) return;
    const uint64_t displacement = dice.below(100);
    const View view(displacement, 1, flat);
    constexpr uint64_t kCopies = 4;
    std::vector<tailrace_extent> all = view.find(0, kCopies * flat->size());
    const uint64_t end = displacement + kCopies * static_cast<uint64_t>(tree->extent);
    for (int i = 0; i < 50; ++i) {
      const uint64_t offset = dice.below(end + 1);
      uint64_t below = 0;
      for (const tailrace_extent& extent : all) {
        if (extent.offset < offset) below += std::min(extent.length, offset - extent.offset);
      }
      ASSERT_EQ(view.below(offset), below) << "offset " << offset;
    }
    EXPECT_EQ(flat->pieces() >= view.find(0, flat->size()).size(), true);
  });
}

TEST(FlatType, Gathers) {
  impl::for_seeds(300, [](uint64_t seed) {
    impl::Dice dice(seed);
    const TypePointer tree = random_tree(dice, true);
    const FlatType flat(*tree);
    if (flat.size() == 0) return;
    const uint64_t copies = dice.between(1, 4);
    std::vector<std::byte> memory(static_cast<size_t>(tree->extent) * copies + 400);
    for (std::byte& byte : memory) byte = static_cast<std::byte>(dice.below(256));
    const uint64_t begin = dice.below(flat.size() * copies);
    std::vector<std::byte> packed(dice.below(flat.size() * copies - begin + 1));
    flat.gather(memory.data(), begin, packed.size(), packed.data());
    const std::vector<int64_t> map = type_map(*tree);
    for (size_t i = 0; i < packed.size(); ++i) {
      const uint64_t at = begin + i;
      const auto copy = static_cast<int64_t>(at / map.size());
      ASSERT_EQ(packed[i], memory[static_cast<size_t>(map[at % map.size()] + copy * tree->extent)]);
    }
  });
}

}  // namespace
}  // namespace tailrace::mpiio
