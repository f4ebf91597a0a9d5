#include "filter/codec.hpp"

#include <libdeflate.h>
#include <zstd.h>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

// libdeflate's level 2 is faster than zlib's level 1 on all bytes, and makes them as small; its level 1 is not where
// they get much smaller.
int level_of_libdeflate(int level) { return level == 1 ? 2 : level; }

class Deflate final : public Codec {
 public:
  explicit Deflate(int level)
      : out_(libdeflate_alloc_compressor(level_of_libdeflate(level))), in_(libdeflate_alloc_decompressor()) {}
  ~Deflate() override {
    libdeflate_free_compressor(out_);
    libdeflate_free_decompressor(in_);
  }
  Deflate(const Deflate&) = delete;
  Deflate& operator=(const Deflate&) = delete;

  size_t compress(std::span<const std::byte> from, std::span<std::byte> to) override {
    if (out_ == nullptr) return 0;
    return libdeflate_zlib_compress(out_, from.data(), from.size(), to.data(), to.size());
  }

  bool decompress(std::span<const std::byte> from, std::span<std::byte> to) override {
    if (in_ == nullptr) return false;
    // Without a place for the number of bytes it is an error if there are not so many.
    return libdeflate_zlib_decompress(in_, from.data(), from.size(), to.data(), to.size(), nullptr) ==
           LIBDEFLATE_SUCCESS;
  }

 private:
  libdeflate_compressor* const out_;
  libdeflate_decompressor* const in_;
};

class Zstd final : public Codec {
 public:
  explicit Zstd(int level) : level_(level), out_(ZSTD_createCCtx()), in_(ZSTD_createDCtx()) {}
  ~Zstd() override {
    ZSTD_freeCCtx(out_);
    ZSTD_freeDCtx(in_);
  }
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;

  size_t compress(std::span<const std::byte> from, std::span<std::byte> to) override {
    if (out_ == nullptr) return 0;
    const size_t size = ZSTD_compressCCtx(out_, to.data(), to.size(), from.data(), from.size(), level_);
    return ZSTD_isError(size) != 0 ? 0 : size;
  }

  bool decompress(std::span<const std::byte> from, std::span<std::byte> to) override {
    if (in_ == nullptr) return false;
    const size_t size = ZSTD_decompressDCtx(in_, to.data(), to.size(), from.data(), from.size());
    return ZSTD_isError(size) == 0 && size == to.size();
  }

 private:
  const int level_;
  ZSTD_CCtx* const out_;
  ZSTD_DCtx* const in_;
};

}  // namespace

std::unique_ptr<Codec> make_codec(Compressor compressor, int level) {
  switch (compressor) {
    case Compressor::deflate: return std::make_unique<Deflate>(level);
    case Compressor::zstd: return std::make_unique<Zstd>(level);
    case Compressor::none: break;
  }
  TAILRACE_ASSERT(false);
}

}  // namespace tailrace::impl
