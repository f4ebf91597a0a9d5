// Chunking: how a block is cut into the chunks that are filtered, stored and read one by one.
//
// Chunks are slabs: one element along the leading axes, some along one axis, all along the rest. So the elements of a
// chunk lie side by side in the block, and cutting copies nothing. All chunks have the same shape, as HDF5 wants it;
// those at the far edge reach beyond the block and hold fewer elements of it. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tailrace::impl {

struct Chunking {
  // Elements of the block, in its own (C) order.
  struct Run {
    uint64_t first = 0;
    uint64_t count = 0;
  };

  std::vector<uint64_t> block;   // shape of the block
  std::vector<uint64_t> shape;   // of one chunk; same rank
  std::vector<uint64_t> counts;  // chunks along each axis

  uint64_t count() const;     // of chunks
  uint64_t elements() const;  // of one chunk, those beyond the edge included
  // Chunks are numbered in C order. Index along each axis of the first element of chunk `index`, in the block.
  std::vector<uint64_t> corner(uint64_t index) const;
  // The elements of the block that chunk `index` holds: elements() of them, or fewer at the edge.
  Run run(uint64_t index) const;
};

// Chunks of a block of `shape` that have about `target` elements, at least 1: as few as have no more, evenly cut. Of
// a block without elements: none, though they have a shape, as HDF5 wants it.
Chunking chunk_slabs(std::span<const uint64_t> shape, uint64_t target);

}  // namespace tailrace::impl
