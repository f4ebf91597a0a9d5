// Convolution: filters strips of an image in Fourier space. Only convolution.cpp uses FFTW.
//
// Flow: set_filters() once; for each channel load() each strip; then magnitude() for each filter and strip. All
// transforms have the same size, that of a strip with its halo, and one plan each, made by FFTW_ESTIMATE: measured
// plans would differ from run to run, and so would the last digits.
#pragma once

#include <complex>
#include <memory>
#include <span>
#include <vector>

#include "gabor.hpp"
#include "strips.hpp"

namespace texture {

class Convolution {
 public:
  // `columns`: of the image; `bank`: its largest radius must not exceed the halo of `strips`. Throws Error without
  // memory for a plan.
  Convolution(const Strips& strips, long columns, const std::vector<GaborFilter>& bank);
  ~Convolution();
  Convolution(const Convolution&) = delete;
  Convolution& operator=(const Convolution&) = delete;

  // Transforms a strip. `pixels`: the strip with its halo, rows × columns; rows ≤ height + 2 halo.
  void load(std::size_t slot, std::span<const float> pixels);

  // Writes |image ∗ kernel| of `rows` rows of the strip in this slot, rows × columns, to `out`.
  void magnitude(std::size_t slot, std::size_t filter, long rows, float* out);

 private:
  class Plans;

  void set_filter(const GaborFilter& filter);

  const Strips strips_;
  const long columns_;
  std::unique_ptr<Plans> plans_;
  std::vector<std::vector<std::complex<float>>> filters_, slots_;  // spectra
};

}  // namespace texture
