#include "hdf5_vol/filters/chunk_compressors.hpp"

#include <blosc.h>
#include <libdeflate.h>
#include <lzf.h>
#include <zstd.h>

// libaec's header lacks this.
extern "C" {
#include <szlib.h>
}

#include <algorithm>
#include <limits>
#include <utility>

namespace tailrace::hdf5 {
namespace {

using Kind = ChunkFilter::Kind;
using Values = std::array<unsigned, ChunkFilter::kMostValues>;

constexpr size_t kSzipLength = 4;  // bytes that say the length

// Some let bytes that do not get smaller get a little larger, as HDF5 does.
size_t room_for(Kind kind, size_t size) {
  switch (kind) {
    case Kind::deflate: return libdeflate_zlib_compress_bound(nullptr, size);
    case Kind::zstd: return ZSTD_compressBound(size);
    case Kind::szip: return kSzipLength + size;
    default: return size;
  }
}

// libdeflate's level 2 is faster than zlib's level 1 on all bytes, and makes them as small; its level 1 is not where
// they get much smaller.
int level_of_libdeflate(unsigned level) { return level == 1 ? 2 : static_cast<int>(level); }

// Each returns how many bytes `to`, which has room, has then; 0: it failed.
size_t deflate(const Values& values, const ByteBuffer& from, FilterMemory& memory) {
  const unsigned level = values[0];
  if (memory.deflate == nullptr || memory.level != level) {
    memory.deflate.reset(libdeflate_alloc_compressor(level_of_libdeflate(level)));
    memory.level = level;
  }
  ByteBuffer& to = memory.bytes;
  if (memory.deflate == nullptr) return 0;
  return libdeflate_zlib_compress(memory.deflate.get(), from.data(), from.size(), to.data(), to.capacity());
}

size_t zstd(const Values& values, const ByteBuffer& from, ByteBuffer& to) {
  const int level = std::clamp(static_cast<int>(values[0]), 1, ZSTD_maxCLevel());
  const size_t size = ZSTD_compress(to.data(), to.capacity(), from.data(), from.size(), level);
  return ZSTD_isError(size) != 0 ? 0 : size;
}

size_t lzf(const ByteBuffer& from, ByteBuffer& to) {
  if (from.size() > std::numeric_limits<unsigned>::max()) return 0;
  const auto size = static_cast<unsigned>(from.size());
  return lzf_compress(from.data(), size, to.data(), size);
}

// Values: 0, 1 the versions of filter and format, 2 bytes of an element, 3 of the chunk, 4 level, 5 how it shuffles,
// 6 which compressor. On this thread, without the library's lock and threads.
size_t blosc(const Values& values, const ByteBuffer& from, ByteBuffer& to) {
  const char* compressor = nullptr;
  if (from.size() > BLOSC_MAX_BUFFERSIZE) return 0;
  if (blosc_compcode_to_compname(static_cast<int>(values[6]), &compressor) < 0) return 0;
  const int size = blosc_compress_ctx(static_cast<int>(values[4]), static_cast<int>(values[5]), values[2],
                                      from.size(), from.data(), to.data(), from.size(), compressor, 0, 1);
  return size > 0 ? static_cast<size_t>(size) : 0;
}

// Values: 0 options, 1 pixels of a block, 2 bits of a pixel, 3 pixels of a line; a pixel is an element. Before the
// stream HDF5 has how many bytes it stands for, the least of that first.
size_t szip(const Values& values, const ByteBuffer& from, ByteBuffer& to) {
  if (from.size() > std::numeric_limits<uint32_t>::max()) return 0;
  for (unsigned byte = 0; byte < kSzipLength; ++byte) {
    to.data()[byte] = static_cast<std::byte>(from.size() >> 8 * byte);
  }
  SZ_com_t how{};
  how.options_mask = static_cast<int>(values[0]);
  how.pixels_per_block = static_cast<int>(values[1]);
  how.bits_per_pixel = static_cast<int>(values[2]);
  how.pixels_per_scanline = static_cast<int>(values[3]);
  size_t size = from.size();
  const int done = SZ_BufftoBuffCompress(to.data() + kSzipLength, &size, from.data(), from.size(), &how);
  return done == SZ_OK ? kSzipLength + size : 0;
}

size_t compressed(const ChunkFilter& filter, const ByteBuffer& from, FilterMemory& memory) {
  ByteBuffer& to = memory.bytes;
  switch (filter.kind) {
    case Kind::deflate: return deflate(filter.values, from, memory);
    case Kind::zstd: return zstd(filter.values, from, to);
    case Kind::lzf: return lzf(from, to);
    case Kind::blosc: return blosc(filter.values, from, to);
    case Kind::szip: return szip(filter.values, from, to);
    default: return 0;
  }
}

}  // namespace

void FilterMemory::Free::operator()(libdeflate_compressor* compressor) const {
  libdeflate_free_compressor(compressor);
}

// The first time blosc shuffles it looks which instructions there are, and keeps that without a lock.
bool can_compress(const ChunkFilter& filter) {
  if (filter.kind != Kind::blosc) return true;
  constexpr size_t kSome = 1024;
  ByteBuffer from(kSome);
  ByteBuffer to(kSome);
  std::fill_n(from.data(), kSome, std::byte{0});
  from.set_size(kSome);
  return blosc(filter.values, from, to) > 0;
}

bool only_makes_smaller(Kind kind) { return kind == Kind::lzf || kind == Kind::blosc || kind == Kind::szip; }

bool compress(const ChunkFilter& filter, ByteBuffer& bytes, FilterMemory& memory) {
  memory.bytes.make_room(std::max(bytes.capacity(), room_for(filter.kind, bytes.size())));
  const size_t size = compressed(filter, bytes, memory);
  if (size == 0) return false;
  memory.bytes.set_size(size);
  std::swap(bytes, memory.bytes);
  return true;
}

}  // namespace tailrace::hdf5
