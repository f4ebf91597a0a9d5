// GaborFilter: one of the filters of the texture analysis, and the bank of all of them.
//
// The kernel at (x, y) pixels from its centre is a plane wave below a round Gaussian (Daugman 1985, J. Opt. Soc. Am.
// A 2(7), 1160, with aspect ratio 1):
//
//   g(x, y) = w(x, y) · (exp(2πi x'/λ) − k),  x' = x cos θ + y sin θ,  w(x, y) = exp(−(x² + y²) / 2σ²) / Σ w
//
// λ is the wavelength, θ the angle. k makes the sum of the kernel zero, so that an even area has no texture. σ gives
// the filter a bandwidth of one octave: σ = 3λ/π · √(ln 2 / 2) ≈ 0.56 λ. The wavelengths of a bank are octaves apart
// and its angles are spread evenly over half a turn, as in Jain and Farrokhnia 1991, Pattern Recognition 24(12),
// 1167.
#pragma once

#include <complex>
#include <vector>

namespace texture {

struct GaborFilter {
  double wavelength;  // λ, pixels
  double angle;       // θ, radians
  double sigma;       // σ, pixels
};

struct BankOptions {
  int scales = 3;
  int orientations = 4;
  double wavelength = 4;  // pixels; of the first scale
};

// Returns scales × orientations filters: all angles of the shortest wavelength first.
std::vector<GaborFilter> gabor_bank(const BankOptions& options);

// Returns the distance in pixels at which the kernel is cut off: 3σ, rounded up.
int radius_of(const GaborFilter& filter);

// Returns the largest radius of a bank.
int radius_of(const std::vector<GaborFilter>& bank);

// Returns the kernel, (2r + 1) × (2r + 1) values, where r is its radius: row by row, y and x from −r to r.
std::vector<std::complex<double>> kernel_of(const GaborFilter& filter);

}  // namespace texture
