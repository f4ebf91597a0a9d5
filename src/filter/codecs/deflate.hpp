// Deflate: zlib streams, by libdeflate. They are valid, but differ from zlib's own.
#pragma once

#include "filter/codecs/codec.hpp"

struct libdeflate_compressor;
struct libdeflate_decompressor;

namespace tailrace::impl {

class Deflate final : public Codec {
 public:
  // `level` is one of zlib's: 0 to 9.
  explicit Deflate(int level);
  ~Deflate() override;
  Deflate(const Deflate&) = delete;
  Deflate& operator=(const Deflate&) = delete;

  int level() const { return level_; }
  size_t room_for(size_t size) const override;
  size_t compress(std::span<const std::byte> from, std::span<std::byte> to) override;
  bool decompress(std::span<const std::byte> from, std::span<std::byte> to) override;

 private:
  const int level_;
  libdeflate_compressor* const out_;
  libdeflate_decompressor* in_ = nullptr;
};

}  // namespace tailrace::impl
