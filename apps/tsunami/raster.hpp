// Raster: heights on a uniform grid of points, and its refinement by interpolation.
//
// Made by esri_grid from a file (or by a test), refined or cropped once, then turned into the solver's grid: every
// point becomes the centre of a cell. Rows run from south to north. It may be a slab of a grid that several processes
// share: then its coordinates are, to the last bit, those of the whole. Never changes while the solver runs.
#pragma once

#include <cstddef>
#include <vector>

namespace tsunami {

struct Raster {
  std::size_t nx = 0, ny = 0;  // points per row, rows
  double x0 = 0, y0 = 0;       // of the south-western point of the whole grid
  double dx = 1, dy = 1;       // between points
  std::vector<double> z;       // z[j * nx + i], metres above sea level; row 0 is the southernmost
  std::size_t first = 0;       // the row of the whole grid that row 0 is

  double x(std::size_t i) const { return x0 + dx * static_cast<double>(i); }
  double y(std::size_t j) const { return y0 + dy * static_cast<double>(first + j); }
  double& at(std::size_t i, std::size_t j) { return z[j * nx + i]; }
  double at(std::size_t i, std::size_t j) const { return z[j * nx + i]; }
};

struct Region {
  double x_min, x_max, y_min, y_max;
};

// Puts `factor` - 1 points between neighbours by bilinear interpolation: (nx - 1) · factor + 1 points a row.
// Requires factor ≥ 1. Of the whole, or of some of the finer grid's rows.
Raster refine(const Raster& coarse, std::size_t factor);
Raster refine(const Raster& coarse, std::size_t factor, std::size_t first, std::size_t rows);
// Returns a raster without heights: only its shape, and where its points are.
Raster refined_shape(const Raster& coarse, std::size_t factor);

// The points of `whole` inside `region`, edges included. Throws Error if fewer than 4 × 4 are left.
Raster crop(const Raster& whole, const Region& region);

}  // namespace tsunami
