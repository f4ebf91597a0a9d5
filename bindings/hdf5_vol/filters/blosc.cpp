#include "hdf5_vol/filters/blosc.hpp"

#include <blosc.h>

#include <algorithm>

namespace tailrace::hdf5 {

bool Blosc::is_available() { return true; }

size_t Blosc::compress(std::span<const std::byte> from, std::span<std::byte> to) {
  const char* compressor = nullptr;
  if (from.size() > BLOSC_MAX_BUFFERSIZE) return 0;
  if (blosc_compcode_to_compname(way_.compressor, &compressor) < 0) return 0;
  const int size = blosc_compress_ctx(way_.level, way_.shuffle, way_.element, from.size(), from.data(), to.data(),
                                      std::min(from.size(), to.size()), compressor, 0, 1);
  return size > 0 ? static_cast<size_t>(size) : 0;
}

bool Blosc::decompress(std::span<const std::byte> from, std::span<std::byte> to) {
  size_t size = 0;
  if (blosc_cbuffer_validate(from.data(), from.size(), &size) < 0 || size != to.size()) return false;
  const int decompressed = blosc_decompress_ctx(from.data(), to.data(), to.size(), 1);
  return decompressed >= 0 && static_cast<size_t>(decompressed) == to.size();
}

}  // namespace tailrace::hdf5
