// Computes the metric of the sphere and of the plane. See the header.
#include "metric.hpp"

#include <algorithm>
#include <cmath>
#include <string>

#include "error.hpp"

namespace tsunami {
namespace {

void fill_sphere_row(Metric& metric, const Raster& grid, std::size_t j, bool coriolis) {
  const double latitude = grid.y(j) * degree;
  const double half = grid.dy * degree / 2;
  const double width = earth_radius * grid.dx * degree;  // of a cell on the equator
  // The exact area between two parallels, so that the areas of the cells add up to the area of the domain.
  metric.area[j] = earth_radius * width * (std::sin(latitude + half) - std::sin(latitude - half));
  metric.east[j] = earth_radius * 2 * half / metric.area[j];
  metric.north[j] = width * std::cos(latitude + half) / metric.area[j];
  metric.south[j] = width * std::cos(latitude - half) / metric.area[j];
  metric.tangent[j] = std::tan(latitude) / earth_radius;
  metric.coriolis[j] = coriolis ? 2 * earth_rotation * std::sin(latitude) : 0.0;
}

}  // namespace

Metric make_metric(const Raster& grid, Geometry geometry, bool coriolis) {
  Metric metric;
  for (auto* column : {&metric.east, &metric.north, &metric.south, &metric.tangent, &metric.coriolis, &metric.area}) {
    column->assign(grid.ny, 0.0);
  }
  if (geometry == Geometry::plane) {
    std::fill(metric.east.begin(), metric.east.end(), 1 / grid.dx);
    std::fill(metric.north.begin(), metric.north.end(), 1 / grid.dy);
    std::fill(metric.south.begin(), metric.south.end(), 1 / grid.dy);
    std::fill(metric.area.begin(), metric.area.end(), grid.dx * grid.dy);
    metric.dy_inverse = 1 / grid.dy;
    return metric;
  }
  const double south = grid.y0 - grid.dy / 2, north = grid.y(grid.ny - 1) + grid.dy / 2;
  if (south < -89.0 || north > 89.0) {
    throw Error("the bathymetry reaches from latitude " + std::to_string(south) + " to " + std::to_string(north) +
                ", expected -89 to 89 at most (use --plane for a grid in metres)");
  }
  for (std::size_t j = 0; j < grid.ny; ++j) fill_sphere_row(metric, grid, j, coriolis);
  metric.dy_inverse = 1 / (earth_radius * grid.dy * degree);
  return metric;
}

EastNorth from_here(Geometry geometry, double x0, double y0, double x, double y) {
  if (geometry == Geometry::plane) return {x - x0, y - y0};
  const double lat0 = y0 * degree, lat = y * degree, dlon = (x - x0) * degree;
  const double east = std::cos(lat) * std::sin(dlon);
  const double north = std::cos(lat0) * std::sin(lat) - std::sin(lat0) * std::cos(lat) * std::cos(dlon);
  const double up = std::sin(lat0) * std::sin(lat) + std::cos(lat0) * std::cos(lat) * std::cos(dlon);
  const double sine = std::hypot(east, north);
  const double angle = std::atan2(sine, up);
  const double scale = sine == 0.0 ? earth_radius : earth_radius * angle / sine;
  return {east * scale, north * scale};
}

}  // namespace tsunami
