// Okada's formulas against the check values that he published: Okada (1985), table 2, cases 2 to 4. Also the fault on
// the map, against basic seismology.
#include <gtest/gtest.h>

#include <cmath>

#include "okada.hpp"
#include "source.hpp"

namespace tsunami {
namespace {

constexpr double pi = std::numbers::pi;

void expect_displacement(const Displacement& found, double x, double y, double z) {
  // The table has four digits.
  EXPECT_NEAR(found.x, x, 5e-4 * std::abs(x) + 1e-12);
  EXPECT_NEAR(found.y, y, 5e-4 * std::abs(y) + 1e-12);
  EXPECT_NEAR(found.z, z, 5e-4 * std::abs(z) + 1e-12);
}

TEST(Okada, Case2InclinedFault) {
  const double dip = 70 * degree;
  expect_displacement(okada({3, 2, 4, dip, 1, 0}, 2, 3), -8.689e-3, -4.298e-3, -2.747e-3);
  expect_displacement(okada({3, 2, 4, dip, 0, 1}, 2, 3), -4.682e-3, -3.527e-2, -3.564e-2);
}

TEST(Okada, Case3VerticalFault) {
  expect_displacement(okada({3, 2, 4, pi / 2, 1, 0}, 0, 0), 0, 5.253e-3, 0);
  expect_displacement(okada({3, 2, 4, pi / 2, 0, 1}, 0, 0), 0, 0, 0);
}

TEST(Okada, Case4VerticalFaultOverturned) {
  expect_displacement(okada({3, 2, 4, -pi / 2, 1, 0}, 0, 0), 0, -1.303e-3, 0);
  expect_displacement(okada({3, 2, 4, -pi / 2, 0, 1}, 0, 0), 0, 0, 0);
}

TEST(Okada, SteepFaultsGoOverIntoVerticalOnes) {
  for (const double x : {-1.0, 0.7, 2.5}) {
    const Displacement steep = okada({3, 2, 4, pi / 2 - 1e-5, 1, 1}, x, 1.3);
    const Displacement vertical = okada({3, 2, 4, pi / 2, 1, 1}, x, 1.3);
    EXPECT_NEAR(steep.z, vertical.z, 1e-5);
    EXPECT_NEAR(steep.y, vertical.y, 1e-5);
  }
}

TEST(Okada, DipSlipIsSymmetricAlongStrike) {
  for (const double off : {0.1, 0.9, 4.0}) {
    EXPECT_NEAR(okada({3, 2, 4, 0.5, 0, 1}, 1.5 - off, 0.4).z, okada({3, 2, 4, 0.5, 0, 1}, 1.5 + off, 0.4).z, 1e-12);
  }
}

// A thrust that strikes north dips to the east: its hanging wall rises west of the deep edge, the ground farther down
// dip sinks.
TEST(Fault, ThrustLiftsTheSideAboveIt) {
  const Fault thrust{0, 15, 90, 400, 100, 10, 10, -72, -35};
  EXPECT_GT(uplift(thrust, Geometry::sphere, -71.6, -35), 1.0);
  EXPECT_LT(uplift(thrust, Geometry::sphere, -70.3, -35), -0.1);
  const Fault turned{180, 15, 90, 400, 100, 10, 10, -72, -35};
  EXPECT_NEAR(uplift(turned, Geometry::sphere, -72.4, -35), uplift(thrust, Geometry::sphere, -71.6, -35), 1e-9);
}

TEST(Fault, PlaneAndSphereAgreeNearby) {
  const Fault on_plane{30, 20, 80, 40, 20, 5, 2, 0, 0}, on_sphere{30, 20, 80, 40, 20, 5, 2, 10, 0};
  const double metre = 1 / (earth_radius * degree);  // in degrees, at the equator
  EXPECT_NEAR(uplift(on_plane, Geometry::plane, 9000, 7000),
              uplift(on_sphere, Geometry::sphere, 10 + 9000 * metre, 7000 * metre), 1e-5);
}

}  // namespace
}  // namespace tsunami
