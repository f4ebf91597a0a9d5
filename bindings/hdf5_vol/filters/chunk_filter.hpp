// The filters of a chunked dataset that are applied here, beside the program, as HDF5's own of these names do it, and
// the registered ones that are not HDF5's. Pure functions over bytes; any thread.
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
  std::array<unsigned, kMostValues> values;  // as HDF5 has them; shuffle: bytes of an element
};

// The memory of a thread that filters, used for one chunk after the other.
struct FilterMemory {
  ByteBuffer bytes;  // of the chunk, while a filter goes from one to the other
  // The latest of each kind.
  std::optional<impl::Deflate> deflate;
  std::optional<impl::Zstd> zstd;
  std::optional<Blosc> blosc;
  std::optional<Szip> szip;
  Lzf lzf;
};

// Returns true if the filter makes bytes whose originals cannot simply be had again. At most one filter of a chunk is
// such.
bool is_compressor(ChunkFilter::Kind kind);

// How many bytes HDF5 stores of a chunk of `size` bytes that its compressor does not make smaller, if it leaves it
// out then; 0 if it does not.
uint64_t size_if_left_out(const std::vector<ChunkFilter>& filters, uint64_t size);

// Applies them in order. False if one failed: the bytes are what they were.
// `memory`: its bytes are perhaps exchanged with `bytes`.
bool filter_chunk(const std::vector<ChunkFilter>& filters, ByteBuffer& bytes, FilterMemory& memory);

}  // namespace tailrace::hdf5
