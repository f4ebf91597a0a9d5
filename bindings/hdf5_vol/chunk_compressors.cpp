#include "chunk_compressors.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <utility>

namespace tailrace::hdf5 {
namespace {

using Kind = ChunkFilter::Kind;
using Values = std::array<unsigned, ChunkFilter::kMostValues>;

// Bytes that do not get smaller may get a little larger, as HDF5 lets them.
size_t room_for(Kind kind, size_t size) {
  return kind == Kind::deflate ? compressBound(size) : ZSTD_compressBound(size);
}

// Each returns how many bytes `to`, which has room, has then; 0: it failed.
size_t deflate(const Values& values, const ByteBuffer& from, ByteBuffer& to) {
  uLongf size = to.capacity();
  const auto* const bytes = reinterpret_cast<const Bytef*>(from.data());
  const int level = static_cast<int>(values[0]);
  const int done = compress2(reinterpret_cast<Bytef*>(to.data()), &size, bytes, from.size(), level);
  return done == Z_OK ? size : 0;
}

size_t zstd(const Values& values, const ByteBuffer& from, ByteBuffer& to) {
  const int level = std::clamp(static_cast<int>(values[0]), 1, ZSTD_maxCLevel());
  const size_t size = ZSTD_compress(to.data(), to.capacity(), from.data(), from.size(), level);
  return ZSTD_isError(size) != 0 ? 0 : size;
}

}  // namespace

bool compress(const ChunkFilter& filter, ByteBuffer& bytes, ByteBuffer& scratch) {
  scratch.make_room(std::max(bytes.capacity(), room_for(filter.kind, bytes.size())));
  const size_t size =
      filter.kind == Kind::deflate ? deflate(filter.values, bytes, scratch) : zstd(filter.values, bytes, scratch);
  if (size == 0) return false;
  scratch.set_size(size);
  std::swap(bytes, scratch);
  return true;
}

}  // namespace tailrace::hdf5
