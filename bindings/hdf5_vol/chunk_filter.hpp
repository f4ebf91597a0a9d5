// The filters of a chunked dataset that are applied here, beside the program: shuffle, deflate and fletcher32, as
// HDF5's own of these names do it, and zstd, as the registered filter does it. Pure functions over bytes; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "byte_buffer.hpp"

namespace tailrace::hdf5 {

struct ChunkFilter {
  enum class Kind { shuffle, deflate, fletcher32, zstd };
  Kind kind;
  unsigned value;  // shuffle: bytes of an element; deflate, zstd: the level
};

// Applies them in order. Returns the mask of those left out, as HDF5 stores it: bit i of filter i, since it failed
// (for want of memory).
// `scratch`: memory that is used meanwhile, and perhaps exchanged with that of `bytes`.
uint32_t filter_chunk(const std::vector<ChunkFilter>& filters, ByteBuffer& bytes, ByteBuffer& scratch);

}  // namespace tailrace::hdf5
