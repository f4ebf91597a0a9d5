// The exact properties of the scheme: a lake at rest stays at rest, no water is lost, no depth is negative, and the
// number of threads changes nothing.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "problem.hpp"

namespace tsunami {
namespace {

// A sea floor with deep water, shallows, islands and dry hollows, from a printed seed.
Raster rough_bed(unsigned seed, double dx, double depth) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  Raster bed{48, 40, 0, 0, dx, dx, {}};
  for (std::size_t j = 0; j < bed.ny; ++j) {
    for (std::size_t i = 0; i < bed.nx; ++i) {
      const double smooth = std::sin(0.3 * static_cast<double>(i)) * std::cos(0.23 * static_cast<double>(j));
      bed.z.push_back(depth * (smooth - 0.2 + 0.3 * uniform(random)));
    }
  }
  return bed;
}

struct Extremes {
  double lowest_depth = INFINITY, highest_wave = 0, fastest = 0;
};

// Returns the extremes of the wet cells; `sea_level` is where they should be.
Extremes extremes(const Solver& solver, double sea_level) {
  Extremes e;
  for (std::ptrdiff_t j = 0; j < solver.ny(); ++j) {
    for (std::ptrdiff_t i = 0; i < solver.nx(); ++i) {
      const double h = solver.state().h.row(j)[i];
      e.lowest_depth = std::min(e.lowest_depth, h);
      if (h > 0) e.highest_wave = std::max(e.highest_wave, std::abs(h + solver.bed().row(j)[i] - sea_level));
      e.fastest = std::max({e.fastest, std::abs(solver.state().hu.row(j)[i]), std::abs(solver.state().hv.row(j)[i])});
    }
  }
  return e;
}

void expect_rest(Geometry geometry, Boundary boundary, unsigned seed) {
  SCOPED_TRACE("seed " + std::to_string(seed));
  const double sea_level = 0.7;
  Problem problem{rough_bed(seed, geometry == Geometry::sphere ? 0.1 : 1000.0, 4000), sea_level, {}, {}};
  SolverOptions options;
  options.geometry = geometry;
  options.boundary = boundary;
  const auto solver = make_solver(problem, options);
  for (int k = 0; k < 200; ++k) solver->step();
  const Extremes e = extremes(*solver, sea_level);
  // One unit in the last place of 4000 m is 5e-13 m; long waves carry it at 200 m/s.
  EXPECT_LT(e.highest_wave, 1e-10);
  EXPECT_LT(e.fastest, 2e-8);
}

TEST(Rest, LakeOnThePlaneStaysAtRest) {
  for (unsigned seed = 1; seed <= 3; ++seed) expect_rest(Geometry::plane, Boundary::wall, seed);
}

TEST(Rest, LakeOnTheSphereStaysAtRest) {
  for (unsigned seed = 1; seed <= 3; ++seed) expect_rest(Geometry::sphere, Boundary::wall, seed);
}

TEST(Rest, OpenEdgesLetNothingIn) { expect_rest(Geometry::sphere, Boundary::open, 4); }

// A high hump in a closed basin with islands: the water runs up the shores and back.
std::unique_ptr<Solver> sloshing(Geometry geometry, int threads, unsigned seed) {
  const bool sphere = geometry == Geometry::sphere;
  Problem problem{rough_bed(seed, sphere ? 0.01 : 1000.0, 40), 0.0, {}, {}};
  problem.gaussian = sphere ? Gaussian{0.24, 0.2, 8.0, 15.0} : Gaussian{24000, 20000, 8.0, 15.0};
  SolverOptions options;
  options.geometry = geometry;
  options.boundary = Boundary::wall;
  options.threads = threads;
  return make_solver(problem, options);
}

TEST(Conservation, NoWaterIsLostAndNoDepthIsNegative) {
  for (const Geometry geometry : {Geometry::plane, Geometry::sphere}) {
    for (unsigned seed = 11; seed <= 13; ++seed) {
      SCOPED_TRACE("seed " + std::to_string(seed));
      const auto solver = sloshing(geometry, 1, seed);
      const double before = solver->volume();
      for (int k = 0; k < 400; ++k) {
        solver->step();
        ASSERT_GE(extremes(*solver, 0).lowest_depth, 0.0) << "step " << k;
      }
      EXPECT_GT(extremes(*solver, 0).fastest, 1.0) << "the test is no test if nothing moves";
      EXPECT_NEAR(solver->volume() / before, 1.0, 1e-12);
    }
  }
}

TEST(Threads, GiveTheSameBits) {
  const auto one = sloshing(Geometry::sphere, 1, 21), three = sloshing(Geometry::sphere, 3, 21);
  for (int k = 0; k < 100; ++k) {
    one->step();
    three->step();
  }
  for (std::ptrdiff_t j = 0; j < one->ny(); ++j) {
    for (std::ptrdiff_t i = 0; i < one->nx(); ++i) {
      ASSERT_EQ(one->state().h.row(j)[i], three->state().h.row(j)[i]);
      ASSERT_EQ(one->state().hu.row(j)[i], three->state().hu.row(j)[i]);
      ASSERT_EQ(one->state().hv.row(j)[i], three->state().hv.row(j)[i]);
    }
  }
}

// A step that is far too long is divided, not made.
TEST(Steps, TooLongOnesAreDivided) {
  Problem problem{rough_bed(31, 1000, 40), 0.0, {}, Gaussian{24000, 20000, 8.0, 15.0}};
  SolverOptions options;
  options.geometry = Geometry::plane;
  options.boundary = Boundary::wall;
  options.dt = 300;
  const auto solver = make_solver(problem, options);
  const double before = solver->volume();
  for (int k = 0; k < 5; ++k) solver->step();
  EXPECT_DOUBLE_EQ(solver->time(), 1500);
  EXPECT_GT(solver->substeps(), 5 * 4);
  EXPECT_NEAR(solver->volume() / before, 1.0, 1e-12);
}

}  // namespace
}  // namespace tsunami
