#include "hdf5_vol/filters/chunk_filter.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include "filter/codecs/fletcher32.hpp"
#include "filter/codecs/shuffle.hpp"
#include "hdf5_vol/filters/chunk_codecs.hpp"

namespace tailrace::hdf5 {
namespace {

constexpr size_t kChecksum = 4;  // bytes

std::span<const std::byte> all(const ByteBuffer& bytes) { return {bytes.data(), bytes.size()}; }

// Shuffles or unshuffles by `move`. Fewer than two elements do not change.
void shuffle(decltype(impl::shuffle)& move, size_t element, ByteBuffer& bytes, ByteBuffer& scratch) {
  const size_t size = bytes.size();
  if (element <= 1 || size / element <= 1) return;
  scratch.make_room(bytes.capacity());
  move(all(bytes), element, {scratch.data(), size});
  scratch.set_size(size);
  std::swap(bytes, scratch);
}

// Appends the checksum to the bytes, least significant byte first.
void fletcher32(ByteBuffer& bytes, ByteBuffer& scratch) {
  const uint32_t checksum = impl::fletcher32(all(bytes));
  const size_t end = bytes.size();
  if (end + kChecksum > bytes.capacity()) {
    scratch.make_room(end + kChecksum);
    std::copy_n(bytes.data(), end, scratch.data());
    std::swap(bytes, scratch);
  }
  for (unsigned byte = 0; byte < kChecksum; ++byte)
    bytes.data()[end + byte] = static_cast<std::byte>(checksum >> 8 * byte);
  bytes.set_size(end + kChecksum);
}

// Returns false if the codec failed; the bytes are then unchanged.
bool compress(impl::Codec& codec, ByteBuffer& bytes, ByteBuffer& scratch) {
  const size_t room = codec.room_for(bytes.size());
  scratch.make_room(std::max(bytes.capacity(), room));
  const size_t size = codec.compress(all(bytes), {scratch.data(), room});
  if (size == 0) return false;
  scratch.set_size(size);
  std::swap(bytes, scratch);
  return true;
}

bool apply(const ChunkFilter& filter, ByteBuffer& bytes, FilterMemory& memory) {
  switch (filter.kind) {
    case ChunkFilter::Kind::shuffle: shuffle(impl::shuffle, filter.values[0], bytes, memory.bytes); return true;
    case ChunkFilter::Kind::fletcher32: fletcher32(bytes, memory.bytes); return true;
    default: return compress(codec_of(filter, memory), bytes, memory.bytes);
  }
}

// Undoes a filter that is not a compressor.
void undo(const ChunkFilter& filter, ByteBuffer& bytes, ByteBuffer& scratch) {
  if (filter.kind == ChunkFilter::Kind::shuffle) {
    shuffle(impl::unshuffle, filter.values[0], bytes, scratch);
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
