#include "chunk_filter.hpp"

#include <zlib.h>
#include <zstd.h>

#include <algorithm>

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

bool zstd(int level, std::vector<std::byte>& bytes) {
  std::vector<std::byte> packed(ZSTD_compressBound(bytes.size()));
  const int possible = std::clamp(level, 1, ZSTD_maxCLevel());
  const size_t size = ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), possible);
  if (ZSTD_isError(size) != 0) return false;
  packed.resize(size);
  bytes = std::move(packed);
  return true;
}

// To 16 bits, modulo 65535; only 0 becomes 0.
uint64_t fold(uint64_t sum) {
  while (sum > 0xffff) sum = (sum & 0xffff) + (sum >> 16);
  return sum;
}

// Fletcher's checksum of big-endian words of 16 bits, the last one filled up with 0; put behind the bytes, its least
// byte first.
void fletcher32(std::vector<std::byte>& bytes) {
  constexpr size_t kAtOnce = size_t{1} << 16;  // so that nothing overflows
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
  for (unsigned byte = 0; byte < 4; ++byte) bytes.push_back(static_cast<std::byte>(checksum >> 8 * byte));
}

bool apply(const ChunkFilter& filter, std::vector<std::byte>& bytes) {
  const auto level = static_cast<int>(filter.value);
  switch (filter.kind) {
    case ChunkFilter::Kind::shuffle: shuffle(filter.value, bytes); return true;
    case ChunkFilter::Kind::fletcher32: fletcher32(bytes); return true;
    case ChunkFilter::Kind::deflate: return deflate(level, bytes);
    case ChunkFilter::Kind::zstd: return zstd(level, bytes);
  }
  return false;
}

}  // namespace

uint32_t filter_chunk(const std::vector<ChunkFilter>& filters, std::vector<std::byte>& bytes) {
  uint32_t left_out = 0;
  for (size_t i = 0; i < filters.size(); ++i) {
    if (!apply(filters[i], bytes)) left_out |= uint32_t{1} << i;
  }
  return left_out;
}

}  // namespace tailrace::hdf5
