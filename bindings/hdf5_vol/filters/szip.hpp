// Szip: HDF5's filter 4, by libaec. Before the stream HDF5 has how many bytes it stands for, the least of that first.
// It fails where the stream would get larger than the bytes.
#pragma once

#include "filter/codecs/codec.hpp"

namespace tailrace::hdf5 {

class Szip final : public impl::Codec {
 public:
  // As szlib counts them; a pixel is an element.
  struct Way {
    int options = 0;
    int pixels_of_block = 0;
    int bits_of_pixel = 0;
    int pixels_of_line = 0;
  };

  explicit Szip(const Way& way) : way_(way) {}

  size_t room_for(size_t size) const override;
  size_t compress(std::span<const std::byte> from, std::span<std::byte> to) override;
  bool decompress(std::span<const std::byte> from, std::span<std::byte> to) override;

 private:
  const Way way_;
};

}  // namespace tailrace::hdf5
