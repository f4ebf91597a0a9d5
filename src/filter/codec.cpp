#include "filter/codec.hpp"

#include <zlib.h>
#include <zstd.h>

#include <limits>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

// zlib has its own types for bytes and counts.
const Bytef* zlib_bytes(std::span<const std::byte> bytes) { return reinterpret_cast<const Bytef*>(bytes.data()); }
Bytef* zlib_bytes(std::span<std::byte> bytes) { return reinterpret_cast<Bytef*>(bytes.data()); }

uInt zlib_count(size_t count) {
  TAILRACE_REQUIRE(count <= std::numeric_limits<uInt>::max());
  return static_cast<uInt>(count);
}

class Deflate final : public Codec {
 public:
  explicit Deflate(int level) : ready_(deflateInit(&stream_, level) == Z_OK) {}
  ~Deflate() override {
    if (ready_) deflateEnd(&stream_);
  }
  Deflate(const Deflate&) = delete;
  Deflate& operator=(const Deflate&) = delete;

  size_t compress(std::span<const std::byte> from, std::span<std::byte> to) override {
    if (!ready_ || deflateReset(&stream_) != Z_OK) return 0;
    stream_.next_in = const_cast<Bytef*>(zlib_bytes(from));  // zlib only reads them
    stream_.avail_in = zlib_count(from.size());
    stream_.next_out = zlib_bytes(to);
    stream_.avail_out = zlib_count(to.size());
    return ::deflate(&stream_, Z_FINISH) == Z_STREAM_END ? to.size() - stream_.avail_out : 0;
  }

  bool decompress(std::span<const std::byte> from, std::span<std::byte> to) override {
    uLongf length = to.size();
    uLong taken = from.size();
    return uncompress2(zlib_bytes(to), &length, zlib_bytes(from), &taken) == Z_OK && length == to.size();
  }

 private:
  z_stream stream_{};
  const bool ready_;
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
