// The plane is cut into squares, each of which has one cell somewhere inside it; a pixel looks at its own square and
// the eight around it. All that is random comes from a hash of the seed and a place.
#include "synthetic.hpp"

#include <cmath>
#include <initializer_list>
#include <numbers>

namespace texture {
namespace {

constexpr long square = 64;  // pixels

// Returns a number from [0, 1) that depends on all bits of the arguments: the finaliser of splitmix64 (Steele, Lea,
// Flood 2014), once for each argument.
double random(std::uint64_t seed, long a, long b, long c) {
  std::uint64_t x = seed;
  for (const long part : {a, b, c}) {
    x += 0x9e3779b97f4a7c15u * (static_cast<std::uint64_t>(part) + 0x632be59bd9b4e019u);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    x ^= x >> 31;
  }
  return static_cast<double>(x >> 11) * 0x1p-53;
}

// Returns a step from 1 inside to 0 outside, two pixels wide.
double inside(double radius, double distance) { return 1 / (1 + std::exp(2 * (distance - radius))); }

// Returns the light that the cell of the square (i, j) takes away at (row, column).
double absorbed(std::uint64_t seed, long i, long j, long row, long column, double stain) {
  const auto of_cell = [&](long property) { return random(seed, i, j, property); };
  const double y = static_cast<double>(row - i * square) - square * (0.25 + 0.5 * of_cell(0));
  const double x = static_cast<double>(column - j * square) - square * (0.25 + 0.5 * of_cell(1));
  const double radius = square * (0.2 + 0.2 * of_cell(2));
  const double distance = std::sqrt(x * x + y * y);
  if (distance > radius + 16) return 0;
  const double angle = std::numbers::pi * of_cell(3), wavelength = 4 * std::pow(4.0, of_cell(4));
  const double wave = std::cos(2 * std::numbers::pi * (x * std::cos(angle) + y * std::sin(angle)) / wavelength);
  const double plasma = inside(radius, distance) * (0.2 + 0.08 * wave);
  const double nucleus = inside(0.4 * radius, distance) * 0.4;
  return (1 - stain) * plasma + stain * nucleus;
}

}  // namespace

float SyntheticImage::pixel(long channel, long row, long column) const {
  const double stain = 0.25 + 0.5 * random(seed_, channel, -1, -1);
  double light = 0.9;
  for (long i = row / square - 1; i <= row / square + 1; ++i) {
    for (long j = column / square - 1; j <= column / square + 1; ++j) {
      light -= absorbed(seed_, i, j, row, column, stain);
    }
  }
  const double noise = random(seed_ + static_cast<std::uint64_t>(channel) + 1, row, column, 7) - 0.5;
  return static_cast<float>(light + 0.05 * noise);
}

}  // namespace texture
