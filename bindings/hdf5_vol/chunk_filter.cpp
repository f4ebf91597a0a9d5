#include "chunk_filter.hpp"

#include <zlib.h>

namespace tailrace::hdf5 {
namespace {

// All first bytes of the elements, then all second ones, …; what is less than an element stays at the end.
void shuffle(size_t element, std::vector<std::byte>& bytes) {
  const size_t count = element > 1 ? bytes.size() / element : 0;
  if (count <= 1) return;
  std::vector<std::byte> shuffled(bytes.size());
  std::byte* to = shuffled.data();
  for (size_t of = 0; of < element; ++of) {
    const std::byte* from = bytes.data() + of;
    for (size_t i = 0; i < count; ++i, from += element) *to++ = *from;
  }
  for (size_t at = count * element; at < bytes.size(); ++at) *to++ = bytes[at];
  bytes = std::move(shuffled);
}

bool deflate(int level, std::vector<std::byte>& bytes) {
  std::vector<std::byte> packed(bytes.size());
  uLongf size = packed.size();
  const auto* const from = reinterpret_cast<const Bytef*>(bytes.data());
  if (compress2(reinterpret_cast<Bytef*>(packed.data()), &size, from, bytes.size(), level) != Z_OK) return false;
  packed.resize(size);
  bytes = std::move(packed);
  return true;
}

}  // namespace

uint32_t filter_chunk(const std::vector<ChunkFilter>& filters, std::vector<std::byte>& bytes) {
  uint32_t left_out = 0;
  for (size_t i = 0; i < filters.size(); ++i) {
    if (filters[i].kind == ChunkFilter::Kind::shuffle) {
      shuffle(filters[i].value, bytes);
    } else if (!deflate(static_cast<int>(filters[i].value), bytes)) {
      left_out |= uint32_t{1} << i;
    }
  }
  return left_out;
}

}  // namespace tailrace::hdf5
