// Metric: lengths and areas of the cells, a few numbers per row; and positions on the Earth.
//
// One grid serves both geometries: on the sphere (x = longitude, y = latitude, degrees) the rows have different
// widths, on a plane (metres) they do not. The solver only sees the numbers. Constant after construction.
#pragma once

#include <cstddef>
#include <numbers>
#include <vector>

#include "raster.hpp"

namespace tsunami {

enum class Geometry { sphere, plane };

constexpr double earth_radius = 6'371'000.0;         // metres, mean
constexpr double earth_rotation = 7.292115e-5;       // rad/s
constexpr double degree = std::numbers::pi / 180.0;  // radians

struct Metric {
  // Per row: length of a cell's side divided by its area, 1/m.
  std::vector<double> east;      // of the eastern and western sides
  std::vector<double> north;     // of the northern side
  std::vector<double> south;     // of the southern side
  double dy_inverse = 0;         // 1 / extent of a cell from south to north
  std::vector<double> tangent;   // tan(latitude) / R: the meridians' convergence
  std::vector<double> coriolis;  // 2 Ω sin(latitude), 1/s
  std::vector<double> area;      // of a cell, m²
};

// Returns the metric of the grid whose points are the cells' centres. Throws Error if it reaches a pole.
Metric make_metric(const Raster& grid, Geometry geometry, bool coriolis);

struct EastNorth {
  double east, north;  // metres
};

// Returns the position of (x, y) relative to (x0, y0): along the great circle on the sphere (azimuthal equidistant).
EastNorth from_here(Geometry geometry, double x0, double y0, double x, double y);

}  // namespace tsunami
