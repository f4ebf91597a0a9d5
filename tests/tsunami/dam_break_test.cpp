// Dam breaks against their exact solutions: J. J. Stoker, "Water Waves", 1957, section 10.8 (wet bed), and A. Ritter,
// Z. Ver. Dtsch. Ing. 36, 1892 (dry bed).
//
// The error must shrink as the grid is refined, equally in both directions of the grid.
#include <gtest/gtest.h>

#include <cmath>

#include "solver.hpp"

namespace tsunami {
namespace {

constexpr double length = 2000, dam = 1000, end = 40;  // m, m, s

// Returns the depth at x, at time t after a dam at 0 broke; hl behind it, hr before it.
double ritter(double hl, double x, double t) {
  const double c = std::sqrt(gravity * hl);
  if (x <= -c * t) return hl;
  if (x >= 2 * c * t) return 0;
  const double root = (2 * c - x / t) / 3;
  return root * root / gravity;
}

// Returns the depth of the plateau between rarefaction and bore, where the two have the same velocity, by bisection.
double plateau(double hl, double hr) {
  const auto excess = [&](double h) {
    const double rarefaction = 2 * (std::sqrt(gravity * hl) - std::sqrt(gravity * h));
    const double bore = (h - hr) * std::sqrt(gravity / 2 * (1 / h + 1 / hr));
    return rarefaction - bore;
  };
  double low = hr, high = hl;
  for (int k = 0; k < 200; ++k) {
    const double middle = (low + high) / 2;
    (excess(middle) > 0 ? low : high) = middle;
  }
  return low;
}

double stoker(double hl, double hr, double x, double t) {
  const double hm = plateau(hl, hr), cl = std::sqrt(gravity * hl), cm = std::sqrt(gravity * hm);
  const double um = 2 * (cl - cm);
  if (x > um * hm / (hm - hr) * t) return hr;  // ahead of the bore, whose speed follows from mass
  if (x > (um - cm) * t) return hm;
  return ritter(hl, x, t);
}

// Returns the mean error of the final depth, in metres, with n cells across the dam; the flow is along x or along y.
double error_of(int n, bool along_x, double hr) {
  const double hl = 10, dx = length / n;
  const auto cells = static_cast<std::size_t>(n);
  const std::size_t nx = along_x ? cells : 4, ny = along_x ? 4 : cells;
  const Raster bed{nx, ny, dx / 2, dx / 2, dx, dx, std::vector<double>(nx * ny, 0.0)};
  std::vector<double> surface;
  for (std::size_t j = 0; j < ny; ++j) {
    for (std::size_t i = 0; i < nx; ++i) surface.push_back((along_x ? bed.x(i) : bed.y(j)) < dam ? hl : hr);
  }
  SolverOptions options;
  options.geometry = Geometry::plane;
  options.boundary = Boundary::open;
  options.manning = 0;
  options.dt = end / (n / 2);
  Solver solver(bed, surface, options);
  while (solver.time() < end - 1e-9) solver.step();
  double sum = 0;
  for (std::ptrdiff_t k = 0; k < n; ++k) {
    const double x = (static_cast<double>(k) + 0.5) * dx - dam;
    const double exact = hr > 0 ? stoker(hl, hr, x, end) : ritter(hl, x, end);
    sum += std::abs((along_x ? solver.state().h.row(1)[k] : solver.state().h.row(k)[1]) - exact);
  }
  return sum / n;
}

void expect_convergence(double hr) {
  for (const bool along_x : {true, false}) {
    SCOPED_TRACE(along_x ? "along x" : "along y");
    const double coarse = error_of(200, along_x, hr), middle = error_of(400, along_x, hr),
                 fine = error_of(800, along_x, hr);
    std::printf("mean error: %.4f m, %.4f m, %.4f m\n", coarse, middle, fine);
    EXPECT_LT(coarse, 0.06);
    // A scheme of any order gains about one order at bores, and at the kinks of rarefactions.
    EXPECT_LT(middle, 0.65 * coarse);
    EXPECT_LT(fine, 0.65 * middle);
  }
  EXPECT_NEAR(error_of(200, true, hr), error_of(200, false, hr), 1e-12);
}

TEST(DamBreak, OntoWaterConvergesToStoker) { expect_convergence(2.0); }

TEST(DamBreak, OntoDryLandConvergesToRitter) { expect_convergence(0.0); }

}  // namespace
}  // namespace tsunami
