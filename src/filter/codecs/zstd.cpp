#include "filter/codecs/zstd.hpp"

#include <zstd.h>

namespace tailrace::impl {

int Zstd::highest_level() { return ZSTD_maxCLevel(); }

Zstd::Zstd(int level) : level_(level), out_(ZSTD_createCCtx()) {}

Zstd::~Zstd() {
  ZSTD_freeCCtx(out_);
  ZSTD_freeDCtx(in_);
}

size_t Zstd::room_for(size_t size) const { return ZSTD_compressBound(size); }

size_t Zstd::compress(std::span<const std::byte> from, std::span<std::byte> to) {
  if (out_ == nullptr) return 0;
  const size_t size = ZSTD_compressCCtx(out_, to.data(), to.size(), from.data(), from.size(), level_);
  return ZSTD_isError(size) != 0 ? 0 : size;
}

bool Zstd::decompress(std::span<const std::byte> from, std::span<std::byte> to) {
  if (in_ == nullptr) in_ = ZSTD_createDCtx();
  if (in_ == nullptr) return false;
  const size_t size = ZSTD_decompressDCtx(in_, to.data(), to.size(), from.data(), from.size());
  return ZSTD_isError(size) == 0 && size == to.size();
}

}  // namespace tailrace::impl
