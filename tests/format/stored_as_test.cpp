// stored_as: where a block lies in its dataset, against a plain model that numbers the elements of the whole array.
#include "format/hdf5/stored_as.hpp"

#include <gtest/gtest.h>

#include <numeric>
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

TEST(StoredAs, PositionsAreThoseOfAPlainModel) {
  const uint64_t seed = std::random_device{}();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  int in_one_piece = 0;
  for (int count = 0; count < 2000; ++count) {
    const size_t rank = 1 + random() % 4;
    std::vector<uint64_t> shape, global, offset;
    for (size_t axis = 0; axis < rank; ++axis) {
      global.push_back(1 + random() % 4);
      shape.push_back(random() % 2 == 0 ? global.back() : 1 + random() % global.back());
      offset.push_back(random() % (global.back() - shape.back() + 1));
    }
    const Layout of = layout(shape, global, offset);
    const std::vector<uint64_t> expected = numbers(of);
    std::vector<uint64_t> run(expected.size());
    std::iota(run.begin(), run.end(), expected.front());
    const auto position = position_in_whole(of);
    ASSERT_EQ(position.has_value(), run == expected);
    if (position) {
      ASSERT_EQ(*position, expected.front());
    }
    in_one_piece += position.has_value();
  }
  EXPECT_GT(in_one_piece, 100);
}

TEST(StoredAs, SlabsShareADatasetAndOthersHaveTheirOwn) {
  Variable variable;
  variable.name = "u";
  const Layout slab = layout({2, 8}, {6, 8}, {4, 0});
  const StoredAs shared = stored_as(variable, slab, FilePer::node, 2);
  EXPECT_EQ(shared.name, "u");
  EXPECT_TRUE(shared.shared);
  EXPECT_EQ(shared.first, 4u * 8u * 8u);
  EXPECT_EQ(shared.layout.shape, (std::vector<uint64_t>{6, 8}));
  EXPECT_EQ(shared.layout.offset, (std::vector<uint64_t>{0, 0}));
  const StoredAs tile = stored_as(variable, layout({2, 4}, {6, 8}, {4, 4}), FilePer::node, 2);
  EXPECT_EQ(tile.name, "u_c2");
  EXPECT_FALSE(tile.shared);
  EXPECT_EQ(tile.layout.shape, (std::vector<uint64_t>{2, 4}));
  const StoredAs whole = stored_as(variable, layout({6, 8}, {6, 8}, {0, 0}), FilePer::node, 1);
  EXPECT_EQ(whole.name, "u_c1");
  const StoredAs alone = stored_as(variable, slab, FilePer::process, 2);
  EXPECT_EQ(alone.name, "u");
  EXPECT_EQ(alone.layout.shape, slab.shape);
}

// A filtered block's size is not known before: it cannot have a place in a shared dataset.
TEST(StoredAs, FilteredBlocksHaveTheirOwn) {
  Variable variable;
  variable.name = "u";
  variable.compress.filter = Compressor::zstd;
  EXPECT_EQ(stored_as(variable, layout({2, 8}, {6, 8}, {4, 0}), FilePer::node, 5).name, "u_c5");
}

}  // namespace
}  // namespace tailrace::impl
