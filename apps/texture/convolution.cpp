// See the header. The arrays of FFTW are row by row; a tile with its halo lies in their upper left corner, and what
// is beyond it is zero and reaches no pixel of the tile.
#include "convolution.hpp"

#include <fftw3.h>

#include <algorithm>
#include <cmath>

#include "error.hpp"

namespace texture {
namespace {

using Spectrum = std::vector<std::complex<float>>;

// Returns the smallest number ≥ size of the form 2^a 3^b 5^c 7^d, for which FFTW is fast.
long fast_size(long size) {
  for (;; ++size) {
    long rest = size;
    for (const long factor : {2, 3, 5, 7}) {
      while (rest % factor == 0) rest /= factor;
    }
    if (rest == 1) return size;
  }
}

}  // namespace

// The memory that is transformed in place, and the two transforms.
class Convolution::Plans {
 public:
  Plans(long height, long width) : rows(fast_size(height)), columns(fast_size(width)) {
    area = fftwf_alloc_complex(size());
    const int n0 = static_cast<int>(rows), n1 = static_cast<int>(columns);
    if (area != nullptr) forward = fftwf_plan_dft_2d(n0, n1, area, area, FFTW_FORWARD, FFTW_ESTIMATE);
    if (area != nullptr) backward = fftwf_plan_dft_2d(n0, n1, area, area, FFTW_BACKWARD, FFTW_ESTIMATE);
    if (forward == nullptr || backward == nullptr) {
      release();
      throw Error("FFTW cannot transform " + std::to_string(rows) + " x " + std::to_string(columns) + " values");
    }
  }
  ~Plans() { release(); }
  Plans(const Plans&) = delete;
  Plans& operator=(const Plans&) = delete;

  std::size_t size() const { return static_cast<std::size_t>(rows * columns); }
  std::complex<float>* values() { return reinterpret_cast<std::complex<float>*>(area); }
  // Transforms what values() has, and returns a copy.
  Spectrum spectrum() {
    fftwf_execute(forward);
    return {values(), values() + size()};
  }

  const long rows, columns;
  fftwf_complex* area = nullptr;
  fftwf_plan forward = nullptr, backward = nullptr;

 private:
  void release() {
    if (forward != nullptr) fftwf_destroy_plan(forward);
    if (backward != nullptr) fftwf_destroy_plan(backward);
    if (area != nullptr) fftwf_free(area);
  }
};

Convolution::Convolution(const Tiles& tiles, const std::vector<GaborFilter>& bank)
    : halo_(tiles.halo),
      plans_(std::make_unique<Plans>(tiles.rows.part + 2 * tiles.halo, tiles.columns.part + 2 * tiles.halo)) {
  for (const GaborFilter& filter : bank) set_filter(filter);
}

Convolution::~Convolution() = default;

// The kernel's centre goes to (0, 0), its other half around the ends. The transforms multiply by the number of
// values; the kernel takes that back.
void Convolution::set_filter(const GaborFilter& filter) {
  const long radius = radius_of(filter);
  const double scale = 1 / static_cast<double>(plans_->size());
  const std::vector<std::complex<double>> kernel = kernel_of(filter);
  std::fill_n(plans_->values(), plans_->size(), 0.0f);
  std::size_t i = 0;
  for (long y = -radius; y <= radius; ++y) {
    const long row = (y + plans_->rows) % plans_->rows;
    for (long x = -radius; x <= radius; ++x) {
      const long column = (x + plans_->columns) % plans_->columns;
      plans_->values()[row * plans_->columns + column] = std::complex<float>(kernel[i++] * scale);
    }
  }
  filters_.push_back(plans_->spectrum());
}

void Convolution::load(std::size_t slot, const Area<const float>& pixels) {
  if (slots_.size() <= slot) slots_.resize(slot + 1);
  std::fill_n(plans_->values(), plans_->size(), 0.0f);
  for (long row = 0; row < pixels.rows; ++row) {
    std::copy_n(pixels.values + row * pixels.pitch, pixels.columns, plans_->values() + row * plans_->columns);
  }
  slots_[slot] = plans_->spectrum();
}

void Convolution::magnitude(std::size_t slot, std::size_t filter, const Area<float>& out) {
  const std::complex<float>* const image = slots_[slot].data();
  const std::complex<float>* const kernel = filters_[filter].data();
  std::complex<float>* const product = plans_->values();
  const std::size_t size = plans_->size();
  // By hand: the operator of std::complex tests for values that are not finite, and so is not vectorised.
  for (std::size_t i = 0; i < size; ++i) {
    const float re = image[i].real() * kernel[i].real() - image[i].imag() * kernel[i].imag();
    const float im = image[i].real() * kernel[i].imag() + image[i].imag() * kernel[i].real();
    product[i] = {re, im};
  }
  fftwf_execute(plans_->backward);
  for (long row = 0; row < out.rows; ++row) {
    const std::complex<float>* const from = product + (row + halo_) * plans_->columns + halo_;
    float* const to = out.values + row * out.pitch;
    for (long x = 0; x < out.columns; ++x) {
      to[x] = std::sqrt(from[x].real() * from[x].real() + from[x].imag() * from[x].imag());
    }
  }
}

}  // namespace texture
