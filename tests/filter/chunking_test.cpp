// Chunking: for any shape, the chunks contain every element of the block once, in order, and match the target size.
#include "filter/chunking.hpp"

#include <gtest/gtest.h>

#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

using Extents = std::vector<uint64_t>;

TEST(Chunking, ABlockThatFitsIsOneChunk) {
  const Chunking chunking = chunk_slabs(Extents{4, 5, 6}, 120);
  EXPECT_EQ(chunking.shape, (Extents{4, 5, 6}));
  EXPECT_EQ(chunking.count(), 1u);
  EXPECT_EQ(chunking.run(0).first, 0u);
  EXPECT_EQ(chunking.run(0).count, 120u);
}

TEST(Chunking, SlabsAreWholeAlongTheLastAxesAndEven) {
  const Chunking chunking = chunk_slabs(Extents{9, 5, 6}, 8 * 30);
  EXPECT_EQ(chunking.shape, (Extents{5, 5, 6})) << "two of 5, rather than one of 8 and one of 1";
  EXPECT_EQ(chunking.counts, (Extents{2, 1, 1}));
  EXPECT_EQ(chunking.corner(1), (Extents{5, 0, 0}));
  EXPECT_EQ(chunking.run(1).first, 150u);
  EXPECT_EQ(chunking.run(1).count, 120u) << "the last one reaches beyond the edge";
  EXPECT_EQ(chunking.elements(), 150u);
}

TEST(Chunking, ABlockWithoutElementsHasNoChunks) {
  const Chunking chunking = chunk_slabs(Extents{3, 0, 100}, 400);
  EXPECT_EQ(chunking.count(), 0u);
  EXPECT_EQ(chunking.shape, (Extents{1, 1, 1})) << "which HDF5 accepts";
}

TEST(Chunking, LeadingAxesAreCutToOneWhereALayerIsTooLarge) {
  const Chunking chunking = chunk_slabs(Extents{3, 10, 100}, 400);
  EXPECT_EQ(chunking.shape, (Extents{1, 4, 100}));
  EXPECT_EQ(chunking.counts, (Extents{3, 3, 1}));
  EXPECT_EQ(chunking.corner(5), (Extents{1, 8, 0}));
  EXPECT_EQ(chunking.run(5).first, 1800u);
  EXPECT_EQ(chunking.run(5).count, 200u);
  EXPECT_EQ(chunk_slabs(Extents{5, 1000}, 1).shape, (Extents{1, 1}));
  EXPECT_EQ(chunk_slabs(Extents{1000}, 300).shape, (Extents{250}));
}

TEST(Chunking, HoldsEveryElementOnce) {
  for_seeds(500, [](uint64_t seed) {
    Dice dice(seed);
    Extents shape(dice.between(1, 4));
    for (uint64_t& extent : shape) extent = dice.between(1, 12);
    const uint64_t target = dice.between(1, 2000);
    const Chunking chunking = chunk_slabs(shape, target);
    EXPECT_LE(chunking.elements(), target);
    uint64_t next = 0;
    for (uint64_t i = 0; i < chunking.count(); ++i) {
      const Chunking::Run run = chunking.run(i);
      EXPECT_EQ(run.first, next) << "chunk " << i;
      EXPECT_GT(run.count, 0u);
      EXPECT_LE(run.count, chunking.elements());
      const Extents corner = chunking.corner(i);
      uint64_t first = 0;
      for (size_t axis = 0; axis < shape.size(); ++axis) {
        EXPECT_LT(corner[axis], shape[axis]);
        first = first * shape[axis] + corner[axis];
      }
      EXPECT_EQ(first, run.first);
      next += run.count;
    }
    uint64_t elements = 1;
    for (const uint64_t extent : shape) elements *= extent;
    EXPECT_EQ(next, elements);
  });
}

}  // namespace
}  // namespace tailrace::impl
