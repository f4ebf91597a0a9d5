#include "hdf5_vol/filters/szip.hpp"

// libaec's header lacks this.
extern "C" {
#include <szlib.h>
}

#include <algorithm>
#include <cstdint>
#include <limits>

namespace tailrace::hdf5 {
namespace {

constexpr size_t kLength = 4;  // bytes that say the length

SZ_com_t options_of(const Szip::Way& way) {
  SZ_com_t how{};
  how.options_mask = way.options;
  how.bits_per_pixel = way.bits_of_pixel;
  how.pixels_per_block = way.pixels_of_block;
  how.pixels_per_scanline = way.pixels_of_line;
  return how;
}

size_t length_of(std::span<const std::byte> stream) {
  size_t length = 0;
  for (unsigned byte = 0; byte < kLength; ++byte) length |= static_cast<size_t>(stream[byte]) << 8 * byte;
  return length;
}

}  // namespace

bool Szip::is_available() { return true; }

size_t Szip::room_for(size_t size) const { return kLength + size; }

size_t Szip::compress(std::span<const std::byte> from, std::span<std::byte> to) {
  if (from.size() > std::numeric_limits<uint32_t>::max() || to.size() < kLength) return 0;
  for (unsigned byte = 0; byte < kLength; ++byte) to[byte] = static_cast<std::byte>(from.size() >> 8 * byte);
  SZ_com_t how = options_of(way_);
  size_t size = std::min(from.size(), to.size() - kLength);
  const int done = SZ_BufftoBuffCompress(to.data() + kLength, &size, from.data(), from.size(), &how);
  return done == SZ_OK ? kLength + size : 0;
}

bool Szip::decompress(std::span<const std::byte> from, std::span<std::byte> to) {
  if (from.size() < kLength || length_of(from) != to.size()) return false;
  SZ_com_t how = options_of(way_);
  size_t size = to.size();
  const int done = SZ_BufftoBuffDecompress(to.data(), &size, from.data() + kLength, from.size() - kLength, &how);
  return done == SZ_OK && size == to.size();
}

}  // namespace tailrace::hdf5
