// Raster: heights on a uniform grid of points, and its refinement by interpolation.
//
// esri_grid (or a test) makes it from a file; it is refined or cropped once, and then becomes the solver's grid:
// every point is the centre of a cell. Rows run from south to north. It may be a slab of a grid that several
// processes share: its coordinates then equal those of the whole to the last bit. It never changes while the solver
// runs.
#pragma once

#include <cstddef>
#include <vector>

namespace tsunami {

struct Raster {
  std::size_t nx = 0, ny = 0;  // points per row, rows
  double x0 = 0, y0 = 0;       // of the south-western point of the whole grid
  double dx = 1, dy = 1;       // between points
  std::vector<double> z;       // z[j * nx + i], metres above sea level; row 0 is the southernmost
  std::size_t first = 0;       // index of row 0 in the whole grid

  double x(std::size_t i) const { return x0 + dx * static_cast<double>(i); }
  double y(std::size_t j) const { return y0 + dy * static_cast<double>(first + j); }
  double& at(std::size_t i, std::size_t j) { return z[j * nx + i]; }
  double at(std::size_t i, std::size_t j) const { return z[j * nx + i]; }
};

struct Region {
  double x_min, x_max, y_min, y_max;
};

// Inserts `factor` - 1 points between neighbours by bilinear interpolation: (nx - 1) · factor + 1 points per row.
// Requires factor ≥ 1. Returns the whole finer grid, or some of its rows.
Raster refine(const Raster& coarse, std::size_t factor);
Raster refine(const Raster& coarse, std::size_t factor, std::size_t first, std::size_t rows);
// Returns a raster without heights, with only its shape and the position of its points.
Raster refined_shape(const Raster& coarse, std::size_t factor);

// Returns the points of `whole` inside `region`, edges included. Throws Error if fewer than 4 × 4 are left.
Raster crop(const Raster& whole, const Region& region);

}  // namespace tsunami
