// Lzf: h5py's compressor (filter 32000), by liblzf. It fails if the bytes would grow.
#pragma once

#include "filter/codecs/codec.hpp"

namespace tailrace::hdf5 {

class Lzf final : public impl::Codec {
 public:
  static bool is_available();  // in this build

  size_t room_for(size_t size) const override { return size; }
  size_t compress(std::span<const std::byte> from, std::span<std::byte> to) override;
  bool decompress(std::span<const std::byte> from, std::span<std::byte> to) override;
};

}  // namespace tailrace::hdf5
