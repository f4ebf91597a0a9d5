// SyntheticImage: a multispectral image of cells, computed pixel by pixel from a seed.
//
// It stands for the smears of Venkatesan 2013, §4.3.1, of which no image is public: round cells with nuclei, a ripple
// inside each cell in a direction of its own, and noise. A channel weighs the parts differently. Any rank can compute
// any pixel, and all get the same value. Values lie between 0 and 1 or so.
#pragma once

#include <cstdint>

namespace texture {

class SyntheticImage {
 public:
  explicit SyntheticImage(std::uint64_t seed) : seed_(seed) {}

  float pixel(long channel, long row, long column) const;

 private:
  std::uint64_t seed_;
};

}  // namespace texture
