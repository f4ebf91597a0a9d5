// Sources: the cause of the wave. A slipping fault lifts the sea floor and the water on it; a Gaussian lifts the
// water.
//
// They are applied once, before the first step, to plain arrays of heights; solver.hpp turns these into water. They
// never touch a running solver.
#pragma once

#include <string>
#include <vector>

#include "metric.hpp"
#include "raster.hpp"

namespace tsunami {

// A rectangular fault, in the terms of seismology; (lon, lat) is the middle of the top edge.
struct Fault {
  double strike, dip, rake;              // degrees
  double length_km, width_km, depth_km;  // depth of the top edge
  double slip;                           // metres
  double lon, lat;
};

struct Gaussian {
  double lon, lat;
  double sigma_km;
  double height;  // metres
};

// Parse "strike,dip,rake,length_km,width_km,depth_km,slip_m,lon,lat" and "lon,lat,sigma_km,height_m". Throw Error
// that names the value found and what was expected.
Fault parse_fault(const std::string& text);
Gaussian parse_gaussian(const std::string& text);

// Returns the vertical displacement of the ground at (x, y), metres.
double uplift(const Fault& fault, Geometry geometry, double x, double y);
// Returns the height of the surface above rest at (x, y), metres.
double elevation(const Gaussian& hump, Geometry geometry, double x, double y);

}  // namespace tsunami
