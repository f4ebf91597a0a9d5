#include "hdf5_vol/filters/lzf.hpp"

extern "C" {  // the header does not say so everywhere
#include <lzf.h>
}

#include <algorithm>
#include <limits>

namespace tailrace::hdf5 {
namespace {

constexpr size_t kMost = std::numeric_limits<unsigned>::max();  // most bytes that the library can count

}  // namespace

bool Lzf::is_available() { return true; }

size_t Lzf::compress(std::span<const std::byte> from, std::span<std::byte> to) {
  if (from.size() > kMost) return 0;
  const auto room = static_cast<unsigned>(std::min(from.size(), to.size()));
  return lzf_compress(from.data(), static_cast<unsigned>(from.size()), to.data(), room);
}

bool Lzf::decompress(std::span<const std::byte> from, std::span<std::byte> to) {
  if (from.empty() || from.size() > kMost || to.size() > kMost) return false;
  const auto size = static_cast<unsigned>(from.size());
  return lzf_decompress(from.data(), size, to.data(), static_cast<unsigned>(to.size())) == to.size();
}

}  // namespace tailrace::hdf5
