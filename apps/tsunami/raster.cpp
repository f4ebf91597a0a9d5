// Refines and crops a Raster. Pure functions.
#include "raster.hpp"

#include <cmath>
#include <string>

#include "error.hpp"

namespace tsunami {

Raster refined_shape(const Raster& coarse, std::size_t factor) {
  const double step = 1.0 / static_cast<double>(factor);
  return {(coarse.nx - 1) * factor + 1,
          (coarse.ny - 1) * factor + 1,
          coarse.x0,
          coarse.y0,
          coarse.dx * step,
          coarse.dy * step,
          {}};
}

Raster refine(const Raster& coarse, std::size_t factor) {
  return refine(coarse, factor, 0, refined_shape(coarse, factor).ny);
}

Raster refine(const Raster& coarse, std::size_t factor, std::size_t first, std::size_t rows) {
  const double step = 1.0 / static_cast<double>(factor);
  Raster fine = refined_shape(coarse, factor);
  fine.first = first;
  fine.ny = rows;
  fine.z.resize(fine.nx * fine.ny);
  for (std::size_t j = 0; j < rows; ++j) {
    const std::size_t below = std::min((first + j) / factor, coarse.ny - 2);
    const double t = static_cast<double>(first + j - below * factor) * step;
    for (std::size_t i = 0; i < fine.nx; ++i) {
      const std::size_t left = std::min(i / factor, coarse.nx - 2);
      const double s = static_cast<double>(i - left * factor) * step;
      const double south = (1 - s) * coarse.at(left, below) + s * coarse.at(left + 1, below);
      const double north = (1 - s) * coarse.at(left, below + 1) + s * coarse.at(left + 1, below + 1);
      fine.at(i, j) = (1 - t) * south + t * north;
    }
  }
  return fine;
}

namespace {

struct Range {
  std::size_t first, count;
};

// Returns the indices of the points x0 + k · dx inside [low, high]; includes points on the edge despite rounding.
Range inside(double x0, double dx, std::size_t n, double low, double high) {
  const double slack = 1e-6;
  const double first = std::max(0.0, std::ceil((low - x0) / dx - slack));
  const double last = std::min(static_cast<double>(n) - 1, std::floor((high - x0) / dx + slack));
  if (last < first) return {0, 0};
  return {static_cast<std::size_t>(first), static_cast<std::size_t>(last - first) + 1};
}

}  // namespace

Raster crop(const Raster& whole, const Region& region) {
  const Range across = inside(whole.x0, whole.dx, whole.nx, region.x_min, region.x_max);
  const Range up = inside(whole.y0, whole.dy, whole.ny, region.y_min, region.y_max);
  if (across.count < 4 || up.count < 4) {
    throw Error("the region leaves " + std::to_string(across.count) + " x " + std::to_string(up.count) +
                " points of the bathymetry, which covers " + std::to_string(whole.x0) + " to " +
                std::to_string(whole.x(whole.nx - 1)) + " by " + std::to_string(whole.y0) + " to " +
                std::to_string(whole.y(whole.ny - 1)) + "; at least 4 x 4 are needed");
  }
  Raster part{across.count, up.count, whole.x(across.first), whole.y(up.first), whole.dx, whole.dy, {}};
  part.z.reserve(part.nx * part.ny);
  for (std::size_t j = 0; j < part.ny; ++j) {
    const double* row = &whole.z[(up.first + j) * whole.nx + across.first];
    part.z.insert(part.z.end(), row, row + part.nx);
  }
  return part;
}

}  // namespace tsunami
