// Chunking: divides a block into the chunks that are filtered, stored and read separately.
//
// Chunks are slabs: one element along the leading axes, some along one axis, all along the rest. So the elements of a
// chunk are contiguous in the block, and dividing copies nothing. All chunks have the same shape, as HDF5 requires;
// those at the far edge extend beyond the block and contain fewer elements of it. Pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tailrace::impl {

struct Chunking {
  // A range of the block's elements, in its own (C) order.
  struct Run {
    uint64_t first = 0;
    uint64_t count = 0;
  };

  std::vector<uint64_t> block;   // shape of the block
  std::vector<uint64_t> shape;   // of one chunk; same rank
  std::vector<uint64_t> counts;  // chunks along each axis

  uint64_t count() const;     // of chunks
  uint64_t elements() const;  // of one chunk, including those beyond the edge
  // Returns the index in the block of the first element of chunk `index`. Chunks are numbered in C order.
  std::vector<uint64_t> corner(uint64_t index) const;
  // Returns the elements of the block in chunk `index`: elements() of them, or fewer at the edge.
  Run run(uint64_t index) const;
};

// Divides a block of `shape` into as few chunks as possible of at most about `target` elements, at least 1, evenly. A
// block without elements has no chunks, though they have a shape, as HDF5 requires.
Chunking chunk_slabs(std::span<const uint64_t> shape, uint64_t target);

}  // namespace tailrace::impl
