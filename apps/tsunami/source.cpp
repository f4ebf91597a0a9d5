// Parses sources, and converts longitude and latitude to Okada's coordinates.
#include "source.hpp"

#include <cmath>

#include "error.hpp"
#include "numbers_list.hpp"
#include "okada.hpp"

namespace tsunami {
namespace {

void expect(bool good, const char* option, const char* name, double found, const char* expected) {
  if (good) return;
  throw Error(std::string(option) + ": found " + name + " = " + shortest(found) + ", expected " + expected);
}

}  // namespace

Fault parse_fault(const std::string& text) {
  const auto v = parse_numbers(text, 9, "--fault", "strike,dip,rake,length_km,width_km,depth_km,slip_m,lon,lat");
  const Fault fault{v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]};
  expect(fault.dip > 0 && fault.dip <= 90, "--fault", "dip", fault.dip, "more than 0 and at most 90 degrees");
  expect(fault.length_km > 0, "--fault", "length_km", fault.length_km, "a positive length");
  expect(fault.width_km > 0, "--fault", "width_km", fault.width_km, "a positive length");
  expect(fault.depth_km >= 0, "--fault", "depth_km", fault.depth_km, "a depth of 0 or more");
  expect(std::abs(fault.slip) <= 200, "--fault", "slip_m", fault.slip, "at most 200 m");
  return fault;
}

Gaussian parse_gaussian(const std::string& text) {
  const auto v = parse_numbers(text, 4, "--gaussian", "lon,lat,sigma_km,height_m");
  const Gaussian hump{v[0], v[1], v[2], v[3]};
  expect(hump.sigma_km > 0, "--gaussian", "sigma_km", hump.sigma_km, "a positive length");
  expect(std::abs(hump.height) <= 1000, "--gaussian", "height_m", hump.height, "at most 1000 m");
  return hump;
}

double uplift(const Fault& fault, Geometry geometry, double x, double y) {
  const EastNorth site = from_here(geometry, fault.lon, fault.lat, x, y);
  const double strike = fault.strike * degree, dip = fault.dip * degree, rake = fault.rake * degree;
  const double length = fault.length_km * 1e3, width = fault.width_km * 1e3;
  const OkadaFault okada_fault{length,
                               width,
                               fault.depth_km * 1e3 + width * std::sin(dip),
                               dip,
                               fault.slip * std::cos(rake),
                               fault.slip * std::sin(rake)};
  // Along strike from the fault's beginning; and to the left of strike (up dip) from above its deeper edge.
  const double along = site.east * std::sin(strike) + site.north * std::cos(strike) + length / 2;
  const double left = -site.east * std::cos(strike) + site.north * std::sin(strike) + width * std::cos(dip);
  return okada(okada_fault, along, left).z;
}

double elevation(const Gaussian& hump, Geometry geometry, double x, double y) {
  const EastNorth site = from_here(geometry, hump.lon, hump.lat, x, y);
  const double s = hump.sigma_km * 1e3;
  return hump.height * std::exp(-(site.east * site.east + site.north * site.north) / (2 * s * s));
}

}  // namespace tsunami
