#include "filter/codecs/deflate.hpp"

#include <libdeflate.h>

namespace tailrace::impl {
namespace {

// libdeflate's level 2 is faster than zlib's level 1 on all data, and compresses as well; its level 1 does not on
// data that compress well.
int level_of_libdeflate(int level) { return level == 1 ? 2 : level; }

}  // namespace

Deflate::Deflate(int level) : level_(level), out_(libdeflate_alloc_compressor(level_of_libdeflate(level))) {}

Deflate::~Deflate() {
  libdeflate_free_compressor(out_);
  libdeflate_free_decompressor(in_);
}

size_t Deflate::room_for(size_t size) const { return libdeflate_zlib_compress_bound(nullptr, size); }

size_t Deflate::compress(std::span<const std::byte> from, std::span<std::byte> to) {
  if (out_ == nullptr) return 0;
  return libdeflate_zlib_compress(out_, from.data(), from.size(), to.data(), to.size());
}

bool Deflate::decompress(std::span<const std::byte> from, std::span<std::byte> to) {
  if (in_ == nullptr) in_ = libdeflate_alloc_decompressor();
  if (in_ == nullptr) return false;
  // Without an argument for the number of bytes, libdeflate fails unless it writes exactly to.size() bytes.
  return libdeflate_zlib_decompress(in_, from.data(), from.size(), to.data(), to.size(), nullptr) ==
         LIBDEFLATE_SUCCESS;
}

}  // namespace tailrace::impl
