// Blosc: HDF5's filter 32001 (the first version of Blosc), by c-blosc, on the calling thread, without the library's
// lock and threads. It fails if the bytes would grow.
#pragma once

#include "filter/codecs/codec.hpp"

namespace tailrace::hdf5 {

class Blosc final : public impl::Codec {
 public:
  // The parameters, as c-blosc counts them.
  struct Way {
    size_t element = 1;  // bytes
    int level = 0;
    int shuffle = 0;
    int compressor = 0;
  };

  static bool is_available();  // in this build

  explicit Blosc(const Way& way) : way_(way) {}

  size_t room_for(size_t size) const override { return size; }
  size_t compress(std::span<const std::byte> from, std::span<std::byte> to) override;
  bool decompress(std::span<const std::byte> from, std::span<std::byte> to) override;

 private:
  const Way way_;
};

}  // namespace tailrace::hdf5
