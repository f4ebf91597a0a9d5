// The formulas of the header.
#include "gabor.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace texture {

std::vector<GaborFilter> gabor_bank(const BankOptions& options) {
  const double sigma_per_wavelength = 3 / std::numbers::pi * std::sqrt(std::numbers::ln2 / 2);
  std::vector<GaborFilter> bank;
  for (int scale = 0; scale < options.scales; ++scale) {
    const double wavelength = std::ldexp(options.wavelength, scale);
    for (int orientation = 0; orientation < options.orientations; ++orientation) {
      const double angle = std::numbers::pi * orientation / options.orientations;
      bank.push_back({wavelength, angle, sigma_per_wavelength * wavelength});
    }
  }
  return bank;
}

int radius_of(const GaborFilter& filter) { return static_cast<int>(std::ceil(3 * filter.sigma)); }

int radius_of(const std::vector<GaborFilter>& bank) {
  int largest = 0;
  for (const GaborFilter& filter : bank) largest = std::max(largest, radius_of(filter));
  return largest;
}

std::vector<std::complex<double>> kernel_of(const GaborFilter& filter) {
  const int radius = radius_of(filter);
  std::vector<double> weights;
  std::vector<std::complex<double>> kernel;
  std::complex<double> sum = 0;
  double weight = 0;
  for (int y = -radius; y <= radius; ++y) {
    for (int x = -radius; x <= radius; ++x) {
      const double along = x * std::cos(filter.angle) + y * std::sin(filter.angle);
      weights.push_back(std::exp(-(x * x + y * y) / (2 * filter.sigma * filter.sigma)));
      kernel.push_back(std::polar(1.0, 2 * std::numbers::pi * along / filter.wavelength));
      sum += weights.back() * kernel.back();
      weight += weights.back();
    }
  }
  const std::complex<double> constant = sum / weight;
  for (std::size_t i = 0; i < kernel.size(); ++i) kernel[i] = weights[i] / weight * (kernel[i] - constant);
  return kernel;
}

}  // namespace texture
