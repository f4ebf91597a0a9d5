#include "hdf5_vol/filters/chunk_filter.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "hdf5_vol/filters/chunk_compressors.hpp"

namespace tailrace::hdf5 {
namespace {

constexpr size_t kChecksum = 4;  // bytes

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

// The elements again.
void unshuffle(size_t element, ByteBuffer& bytes, ByteBuffer& scratch) {
  const size_t size = bytes.size();
  const size_t count = element > 1 ? size / element : 0;
  if (count <= 1) return;
  scratch.make_room(bytes.capacity());
  const std::byte* from = bytes.data();
  for (size_t of = 0; of < element; ++of) {
    std::byte* to = scratch.data() + of;
    for (size_t i = 0; i < count; ++i, to += element) *to = *from++;
  }
  std::copy(from, from + size % element, scratch.data() + count * element);
  scratch.set_size(size);
  std::swap(bytes, scratch);
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
  if (end + kChecksum > buffer.capacity()) {
    scratch.make_room(end + kChecksum);
    std::copy(bytes.begin(), bytes.end(), scratch.data());
    std::swap(buffer, scratch);
  }
  for (unsigned byte = 0; byte < kChecksum; ++byte)
    buffer.data()[end + byte] = static_cast<std::byte>(checksum >> 8 * byte);
  buffer.set_size(end + kChecksum);
}

bool apply(const ChunkFilter& filter, ByteBuffer& bytes, FilterMemory& memory) {
  switch (filter.kind) {
    case ChunkFilter::Kind::shuffle: shuffle(filter.values[0], bytes, memory.bytes); return true;
    case ChunkFilter::Kind::fletcher32: fletcher32(bytes, memory.bytes); return true;
    default: return compress(filter, bytes, memory);
  }
}

// Undoes a filter that is no compressor.
void undo(const ChunkFilter& filter, ByteBuffer& bytes, ByteBuffer& scratch) {
  if (filter.kind == ChunkFilter::Kind::shuffle) {
    unshuffle(filter.values[0], bytes, scratch);
  } else {
    bytes.set_size(bytes.size() - kChecksum);
  }
}

}  // namespace

bool is_compressor(ChunkFilter::Kind kind) {
  return kind != ChunkFilter::Kind::shuffle && kind != ChunkFilter::Kind::fletcher32;
}

uint64_t size_if_left_out(const std::vector<ChunkFilter>& filters, uint64_t size) {
  bool is_left_out = false;
  for (const ChunkFilter& filter : filters) {
    if (filter.kind == ChunkFilter::Kind::fletcher32) size += kChecksum;
    is_left_out |= only_makes_smaller(filter.kind);
  }
  return is_left_out ? size : 0;
}

bool filter_chunk(const std::vector<ChunkFilter>& filters, ByteBuffer& bytes, FilterMemory& memory) {
  size_t done = 0;
  while (done < filters.size() && apply(filters[done], bytes, memory)) ++done;
  if (done == filters.size()) return true;
  while (done-- > 0) undo(filters[done], bytes, memory.bytes);
  return false;
}

}  // namespace tailrace::hdf5
