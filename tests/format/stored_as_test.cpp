// stored_as: the place of a block in its dataset, against a plain model that numbers the elements of the whole array.
#include "format/plan/stored_as.hpp"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

namespace tailrace::impl {
namespace {

Layout layout(std::vector<uint64_t> shape, std::vector<uint64_t> global, std::vector<uint64_t> offset) {
  Layout of;
  of.type = ElementType::float64;
  of.shape = std::move(shape);
  of.global_shape = std::move(global);
  of.offset = std::move(offset);
  return of;
}

// The numbers of the block's elements in the whole array, in the block's order.
std::vector<uint64_t> numbers(const Layout& of) {
  std::vector<uint64_t> all;
  std::vector<uint64_t> at(of.shape.size(), 0);
  for (uint64_t count = of.elements(); count > 0; --count) {
    uint64_t number = 0;
    for (size_t axis = 0; axis < at.size(); ++axis)
      number = number * of.global_shape[axis] + of.offset[axis] + at[axis];
    all.push_back(number);
    for (size_t axis = at.size(); axis-- > 0;) {
      if (++at[axis] < of.shape[axis]) break;
      at[axis] = 0;
    }
  }
  return all;
}

// The extents that hold these elements of 8 bytes, each as long as can be.
std::vector<Extent> runs_of(const std::vector<uint64_t>& numbers, uint64_t begin) {
  std::vector<Extent> runs;
  for (const uint64_t number : numbers) {
    const uint64_t at = begin + 8 * number;
    if (!runs.empty() && runs.back().end() == at) {
      runs.back().length += 8;
    } else {
      runs.push_back({at, 8});
    }
  }
  return runs;
}

TEST(StoredAs, ExtentsAreThoseOfAPlainModel) {
  const uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  int in_one_piece = 0;
  int in_several = 0;
  for (int count = 0; count < 2000; ++count) {
    const size_t rank = 1 + random() % 4;
    std::vector<uint64_t> shape, global, offset;
    for (size_t axis = 0; axis < rank; ++axis) {
      global.push_back(1 + random() % 4);
      shape.push_back(random() % 2 == 0 ? global.back() : random() % 16 == 0 ? 0 : 1 + random() % global.back());
      offset.push_back(random() % (global.back() - shape.back() + 1));
    }
    const Layout of = layout(shape, global, offset);
    const uint64_t begin = random() % 10000;
    const std::vector<Extent> expected = runs_of(numbers(of), begin);
    const std::vector<Extent> found = extents_of(of, {"u", "meshes", &of, true}, begin);
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < found.size(); ++i) {
      ASSERT_EQ(found[i].offset, expected[i].offset);
      ASSERT_EQ(found[i].length, expected[i].length);
    }
    if (!of.empty()) {
      ASSERT_EQ(runs_in_whole(of), found.size());
    }
    in_one_piece += found.size() == 1;
    in_several += found.size() > 1;
    // It fills a dataset of its own.
    const std::vector<Extent> alone = extents_of(of, {"u_c3", "meshes", &of, false}, begin);
    ASSERT_EQ(alone.size(), of.empty() ? 0u : 1u);
    if (!of.empty()) {
      ASSERT_EQ(alone[0].length, of.bytes());
    }
  }
  EXPECT_GT(in_one_piece, 100);
  EXPECT_GT(in_several, 100);
}

TEST(StoredAs, SlabsShareADatasetAndOthersHaveTheirOwn) {
  Variable variable;
  variable.name = "u";
  const Layout slab = layout({2, 8}, {6, 8}, {4, 0});
  const StoredAs shared = stored_as(variable, slab, FilePer::node, 2);
  EXPECT_EQ(shared.name, "u");
  EXPECT_TRUE(shared.shared);
  const std::vector<Extent> extents = extents_of(slab, shared, 1000);
  ASSERT_EQ(extents.size(), 1u);
  EXPECT_EQ(extents[0].offset, 1000u + 4u * 8u * 8u);
  EXPECT_EQ(extents[0].length, 2u * 8u * 8u);
  EXPECT_EQ(shared.shape(), (std::vector<uint64_t>{6, 8}));
  EXPECT_EQ(shared.offset(), (std::vector<uint64_t>{0, 0}));
  const Layout brick = layout({2, 4}, {6, 8}, {4, 4});
  const StoredAs tile = stored_as(variable, brick, FilePer::node, 2);
  EXPECT_EQ(tile.name, "u_c2");
  EXPECT_FALSE(tile.shared);
  EXPECT_EQ(tile.shape(), (std::vector<uint64_t>{2, 4}));
  const StoredAs whole = stored_as(variable, layout({6, 8}, {6, 8}, {0, 0}), FilePer::node, 1);
  EXPECT_EQ(whole.name, "u_c1");
  const StoredAs alone = stored_as(variable, slab, FilePer::process, 2);
  EXPECT_EQ(alone.name, "u");
  EXPECT_EQ(alone.shape(), slab.shape);
}

TEST(StoredAs, InAPlainFileTheVariableSaysWhere) {
  Variable variable;
  variable.name = "u";
  variable.dataset = "g/u/P{client}";
  const Layout slab = layout({2, 8}, {6, 8}, {4, 0});
  const StoredAs own = stored_as(variable, slab, FilePer::node, 2);
  EXPECT_EQ(own.name, "g/u/P2");
  EXPECT_STREQ(own.root, "");
  EXPECT_FALSE(own.shared);
  variable.dataset = "g/u";
  EXPECT_TRUE(stored_as(variable, slab, FilePer::job, 2).shared);
  EXPECT_TRUE(stored_as(variable, layout({6, 8}, {6, 8}, {0, 0}), FilePer::job, 2).shared);
  EXPECT_FALSE(stored_as(variable, slab, FilePer::process, 2).shared);
}

TEST(StoredAs, InAFileOfAJobTilesShareADatasetToo) {
  Variable variable;
  variable.name = "u";
  const Layout tile = layout({2, 3}, {6, 8}, {4, 5});
  const StoredAs shared = stored_as(variable, tile, FilePer::job, 2);
  EXPECT_EQ(shared.name, "u");
  EXPECT_TRUE(shared.shared);
  EXPECT_EQ(shared.shape(), (std::vector<uint64_t>{6, 8}));
  const std::vector<Extent> extents = extents_of(tile, shared, 0);
  ASSERT_EQ(extents.size(), 2u);
  EXPECT_EQ(extents[1].offset, 8u * (5 * 8 + 5));
  EXPECT_EQ(extents[1].length, 8u * 3);
  EXPECT_EQ(stored_as(variable, layout({6, 8}, {6, 8}, {0, 0}), FilePer::job, 1).name, "u_c1");
  const Layout most = layout({kMostRuns, 3}, {kMostRuns, 8}, {0, 5});
  EXPECT_EQ(stored_as(variable, most, FilePer::job, 2).name, "u");
  const Layout too_many = layout({kMostRuns + 1, 3}, {kMostRuns + 1, 8}, {0, 5});
  EXPECT_EQ(stored_as(variable, too_many, FilePer::job, 2).name, "u_c2");
}

// A filtered block's size is not known in advance, so it cannot have a place in a shared dataset.
TEST(StoredAs, FilteredBlocksHaveTheirOwn) {
  Variable variable;
  variable.name = "u";
  variable.compress.filter = Compressor::zstd;
  EXPECT_EQ(stored_as(variable, layout({2, 8}, {6, 8}, {4, 0}), FilePer::node, 5).name, "u_c5");
}

}  // namespace
}  // namespace tailrace::impl
