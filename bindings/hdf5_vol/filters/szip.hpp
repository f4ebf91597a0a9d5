// Szip: HDF5's filter 4, by libaec. HDF5 puts the number of original bytes before the stream, least significant byte
// first. It fails if the stream would be larger than the bytes.
#pragma once

#include "filter/codecs/codec.hpp"

namespace tailrace::hdf5 {

class Szip final : public impl::Codec {
 public:
  // The parameters, as szlib counts them; a pixel is an element.
  struct Way {
    int options = 0;
    int pixels_of_block = 0;
    int bits_of_pixel = 0;
    int pixels_of_line = 0;
  };

  static bool is_available();  // in this build

  explicit Szip(const Way& way) : way_(way) {}

  size_t room_for(size_t size) const override;
  size_t compress(std::span<const std::byte> from, std::span<std::byte> to) override;
  bool decompress(std::span<const std::byte> from, std::span<std::byte> to) override;

 private:
  const Way way_;
};

}  // namespace tailrace::hdf5
