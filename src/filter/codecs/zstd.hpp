// Zstd: frames that record their size, since readers of HDF5 allocate memory by it.
#pragma once

#include "filter/codecs/codec.hpp"

struct ZSTD_CCtx_s;
struct ZSTD_DCtx_s;

namespace tailrace::impl {

class Zstd final : public Codec {
 public:
  // Returns the highest level. Levels below 1 are faster than 1.
  static int highest_level();

  explicit Zstd(int level);
  ~Zstd() override;
  Zstd(const Zstd&) = delete;
  Zstd& operator=(const Zstd&) = delete;

  int level() const { return level_; }
  size_t room_for(size_t size) const override;
  size_t compress(std::span<const std::byte> from, std::span<std::byte> to) override;
  bool decompress(std::span<const std::byte> from, std::span<std::byte> to) override;

 private:
  const int level_;
  ZSTD_CCtx_s* const out_;
  ZSTD_DCtx_s* in_ = nullptr;
};

}  // namespace tailrace::impl
