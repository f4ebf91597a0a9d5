#include "chunk_filter.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <span>
#include <utility>

namespace tailrace::hdf5 {
namespace {

// All first bytes of the elements, then all second ones, …; what is less than an element stays at the end.
void shuffle(size_t element, ByteBuffer& bytes, ByteBuffer& scratch) {
  const size_t size = bytes.size();
  const size_t count = element > 1 ? size / element : 0;
  if (count <= 1) return;
  scratch.make_room(bytes.capacity());
  std::byte* to = scratch.data();
  for (size_t of = 0; of < element; ++of) {
    const std::byte* from = bytes.data() + of;
    for (size_t i = 0; i < count; ++i, from += element) *to++ = *from;
  }
  std::copy(bytes.data() + count * element, bytes.data() + size, to);
  scratch.set_size(size);
  std::swap(bytes, scratch);
}

// Bytes that do not get smaller may get a little larger, as HDF5 lets them: it cannot read a chunk at once of which
// it has been told that a filter was left out (H5Dwrite_chunk, 1.14.5).
bool deflate(int level, ByteBuffer& bytes, ByteBuffer& scratch) {
  scratch.make_room(std::max(bytes.capacity(), compressBound(bytes.size())));
  uLongf size = scratch.capacity();
  const auto* const from = reinterpret_cast<const Bytef*>(bytes.data());
  if (compress2(reinterpret_cast<Bytef*>(scratch.data()), &size, from, bytes.size(), level) != Z_OK) return false;
  scratch.set_size(size);
  std::swap(bytes, scratch);
  return true;
}

bool zstd(int level, ByteBuffer& bytes, ByteBuffer& scratch) {
  scratch.make_room(std::max(bytes.capacity(), ZSTD_compressBound(bytes.size())));
  const int possible = std::clamp(level, 1, ZSTD_maxCLevel());
  const size_t size = ZSTD_compress(scratch.data(), scratch.capacity(), bytes.data(), bytes.size(), possible);
  if (ZSTD_isError(size) != 0) return false;
  scratch.set_size(size);
  std::swap(bytes, scratch);
  return true;
}

// To 16 bits, modulo 65535; only 0 becomes 0.
uint64_t fold(uint64_t sum) {
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

// Fletcher's checksum of big-endian words of 16 bits, the last one filled up with 0; put behind the bytes, its least
// byte first.
void fletcher32(ByteBuffer& buffer, ByteBuffer& scratch) {
  constexpr size_t kAtOnce = size_t{1} << 16;  // so that nothing overflows
  const std::span<const std::byte> bytes(buffer.data(), buffer.size());
  uint64_t sum = 0;
  uint64_t sum_of_sums = 0;
  for (size_t at = 0; at < bytes.size();) {
    const size_t end = std::min(at + kAtOnce, bytes.size());
    for (; at < end; at += 2) {
      const uint64_t low = at + 1 < bytes.size() ? static_cast<uint64_t>(bytes[at + 1]) : 0;
      sum += static_cast<uint64_t>(bytes[at]) << 8 | low;
      sum_of_sums += sum;
    }
    sum = fold(sum);
    sum_of_sums = fold(sum_of_sums);
  }
  const uint64_t checksum = sum_of_sums << 16 | sum;
  const size_t end = buffer.size();
  if (end + 4 > buffer.capacity()) {
    scratch.make_room(end + 4);
    std::copy(bytes.begin(), bytes.end(), scratch.data());
    std::swap(buffer, scratch);
  }
  for (unsigned byte = 0; byte < 4; ++byte) buffer.data()[end + byte] = static_cast<std::byte>(checksum >> 8 * byte);
  buffer.set_size(end + 4);
}

bool apply(const ChunkFilter& filter, ByteBuffer& bytes, ByteBuffer& scratch) {
  const auto level = static_cast<int>(filter.value);
  switch (filter.kind) {
    case ChunkFilter::Kind::shuffle: shuffle(filter.value, bytes, scratch); return true;
    case ChunkFilter::Kind::fletcher32: fletcher32(bytes, scratch); return true;
    case ChunkFilter::Kind::deflate: return deflate(level, bytes, scratch);
    case ChunkFilter::Kind::zstd: return zstd(level, bytes, scratch);
  }
  return false;
}

}  // namespace

uint32_t filter_chunk(const std::vector<ChunkFilter>& filters, ByteBuffer& bytes, ByteBuffer& scratch) {
  uint32_t left_out = 0;
  for (size_t i = 0; i < filters.size(); ++i) {
    if (!apply(filters[i], bytes, scratch)) left_out |= uint32_t{1} << i;
  }
  return left_out;
}

}  // namespace tailrace::hdf5
