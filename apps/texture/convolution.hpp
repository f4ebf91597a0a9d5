// Convolution: filters tiles of an image in Fourier space. Only convolution.cpp uses FFTW.
//
// Flow: for each channel load() each tile; then magnitude() for each filter and tile. All transforms have the same
// size, that of a tile with its halo, and one plan each, made by FFTW_ESTIMATE: measured
// plans would differ from run to run, and so would the last digits.
#pragma once

#include <complex>
#include <memory>
#include <vector>

#include "gabor.hpp"
#include "tiles.hpp"

namespace texture {

class Convolution {
 public:
  // Area: rows × columns of values; the rows lie `pitch` values apart.
  template <class Value>
  struct Area {
    Value* values;
    long rows, columns;
    long pitch;
  };

  // `bank`: its largest radius must not exceed the halo of `tiles`. Throws Error without memory for a plan.
  Convolution(const Tiles& tiles, const std::vector<GaborFilter>& bank);
  ~Convolution();
  Convolution(const Convolution&) = delete;
  Convolution& operator=(const Convolution&) = delete;

  // Transforms a tile with its halo.
  void load(std::size_t slot, const Area<const float>& pixels);

  // Writes |image ∗ kernel| of the tile in this slot to `out`, which is as large as the tile.
  void magnitude(std::size_t slot, std::size_t filter, const Area<float>& out);

 private:
  class Plans;

  void set_filter(const GaborFilter& filter);

  const long halo_;
  std::unique_ptr<Plans> plans_;
  std::vector<std::vector<std::complex<float>>> filters_, slots_;  // spectra
};

}  // namespace texture
