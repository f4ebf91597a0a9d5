// The filters of a chunked dataset that are applied here, beside the program, as HDF5's own of these names do it, and
// the registered ones that are not HDF5's. Pure functions over bytes; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "byte_buffer.hpp"

namespace tailrace::hdf5 {

struct ChunkFilter {
  enum class Kind { shuffle, fletcher32, deflate, zstd, lzf, blosc, szip };
  static constexpr size_t kMostValues = 7;

  Kind kind;
  std::array<unsigned, kMostValues> values;  // as HDF5 has them; shuffle: bytes of an element
};

// Whether it makes bytes others that cannot simply be had again. Of those that are to be applied, one at most is.
bool is_compressor(ChunkFilter::Kind kind);

// How many bytes HDF5 stores of a chunk of `size` bytes that its compressor does not make smaller, if it leaves it
// out then; 0 if it does not.
uint64_t size_if_left_out(const std::vector<ChunkFilter>& filters, uint64_t size);

// Applies them in order. False if one failed: the bytes are what they were.
// `scratch`: memory that is used meanwhile, and perhaps exchanged with that of `bytes`.
bool filter_chunk(const std::vector<ChunkFilter>& filters, ByteBuffer& bytes, ByteBuffer& scratch);

}  // namespace tailrace::hdf5
