// Applies the filters of a chunked dataset beside the program, with the same results as HDF5's own and the registered
// filters of these names. Pure functions over bytes, for any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "filter/codecs/deflate.hpp"
#include "filter/codecs/zstd.hpp"
#include "hdf5_vol/filters/blosc.hpp"
#include "hdf5_vol/filters/byte_buffer.hpp"
#include "hdf5_vol/filters/lzf.hpp"
#include "hdf5_vol/filters/szip.hpp"

namespace tailrace::hdf5 {

struct ChunkFilter {
  enum class Kind { shuffle, fletcher32, deflate, zstd, lzf, blosc, szip };
  static constexpr size_t kMostValues = 7;

  Kind kind;
  std::array<unsigned, kMostValues> values;  // HDF5's client data; for shuffle: bytes of an element
};

// The memory of a thread that filters, reused for one chunk after another.
struct FilterMemory {
  ByteBuffer bytes;  // of the chunk, between two filters
  // The latest codec of each kind.
  std::optional<impl::Deflate> deflate;
  std::optional<impl::Zstd> zstd;
  std::optional<Blosc> blosc;
  std::optional<Szip> szip;
  Lzf lzf;
};

// Returns true if the filter compresses. A chunk has at most one compressor.
bool is_compressor(ChunkFilter::Kind kind);

// Returns the bytes that HDF5 stores of a chunk of `size` bytes if it leaves out a compressor that does not make the
// chunk smaller; 0 if it never leaves it out.
uint64_t size_if_left_out(const std::vector<ChunkFilter>& filters, uint64_t size);

// Applies the filters in order. Returns false if one failed; `bytes` are then unchanged. May exchange the bytes of
// `memory` with `bytes`.
bool filter_chunk(const std::vector<ChunkFilter>& filters, ByteBuffer& bytes, FilterMemory& memory);

}  // namespace tailrace::hdf5
