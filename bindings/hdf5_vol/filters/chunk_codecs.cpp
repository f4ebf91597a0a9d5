#include "hdf5_vol/filters/chunk_codecs.hpp"

#include <algorithm>

namespace tailrace::hdf5 {
namespace {

using Kind = ChunkFilter::Kind;
using Values = std::array<unsigned, ChunkFilter::kMostValues>;

// Values: 0 and 1: versions of filter and format; 2: bytes of an element; 3: bytes of the chunk; 4: level; 5:
// shuffle; 6: compressor.
Blosc::Way blosc_way(const Values& values) {
  return {values[2], static_cast<int>(values[4]), static_cast<int>(values[5]), static_cast<int>(values[6])};
}

// Values: 0: options; 1: pixels of a block; 2: bits of a pixel; 3: pixels of a line.
Szip::Way szip_way(const Values& values) {
  return {static_cast<int>(values[0]), static_cast<int>(values[1]), static_cast<int>(values[2]),
          static_cast<int>(values[3])};
}

int zstd_level(const Values& values) {
  return std::clamp(static_cast<int>(values[0]), 1, impl::Zstd::highest_level());
}

// Returns the kept codec, or makes a new one if that has another level.
template <class Codec>
Codec& of_level(std::optional<Codec>& kept, int level) {
  return kept && kept->level() == level ? *kept : kept.emplace(level);
}

}  // namespace

// The first time that blosc shuffles, it detects the cpu's instructions and stores the result without a lock.
bool can_compress(const ChunkFilter& filter) {
  if (filter.kind == Kind::lzf) return Lzf::is_available();
  if (filter.kind == Kind::szip) return Szip::is_available();
  if (filter.kind != Kind::blosc) return true;
  constexpr size_t kSome = 1024;
  const std::array<std::byte, kSome> from{};
  std::array<std::byte, kSome> to{};
  return Blosc(blosc_way(filter.values)).compress(from, to) > 0;
}

bool only_makes_smaller(Kind kind) { return kind == Kind::lzf || kind == Kind::blosc || kind == Kind::szip; }

impl::Codec& codec_of(const ChunkFilter& filter, FilterMemory& memory) {
  switch (filter.kind) {
    case Kind::zstd: return of_level(memory.zstd, zstd_level(filter.values));
    case Kind::lzf: return memory.lzf;
    case Kind::blosc: return memory.blosc.emplace(blosc_way(filter.values));
    case Kind::szip: return memory.szip.emplace(szip_way(filter.values));
    default: return of_level(memory.deflate, static_cast<int>(filter.values[0]));
  }
}

}  // namespace tailrace::hdf5
