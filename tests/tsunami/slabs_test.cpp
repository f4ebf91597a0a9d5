// A grid that is divided into slabs gives the same bits as the whole one: every field after every kind of step, the
// volume, and the gauges' records, including those between two slabs. Threads stand for the processes.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>
#include <thread>

#include "gauge.hpp"
#include "problem.hpp"
#include "shared_peers.hpp"

namespace tsunami {
namespace {

constexpr std::size_t refinement = 2;

struct Scene {
  Raster coarse;
  Geometry geometry;
  Boundary boundary;
  double dt;  // 0: from cfl
};

// Deep water, shallows, islands and dry hollows, from a printed seed.
Scene make_scene(Geometry geometry, Boundary boundary, double dt, unsigned seed) {
  std::mt19937_64 random(seed);
  std::uniform_real_distribution<double> uniform(-1, 1);
  const double dx = geometry == Geometry::sphere ? 0.01 : 1000.0;
  Raster bed{31, 23, 0, 0, dx, dx, {}};
  for (std::size_t j = 0; j < bed.ny; ++j) {
    for (std::size_t i = 0; i < bed.nx; ++i) {
      const double smooth = std::sin(0.3 * static_cast<double>(i)) * std::cos(0.23 * static_cast<double>(j));
      bed.z.push_back(40 * (smooth - 0.2 + 0.3 * uniform(random)));
    }
  }
  return {bed, geometry, boundary, dt};
}

struct Outcome {
  std::vector<double> h, hu, hv, bed;  // dense, of the whole grid
  std::vector<Gauge::Sample> samples[3];
  double dt = 0, volume_before = 0, volume_after = 0;
  long substeps = 0;
};

void collect(const Solver& solver, Outcome& all) {
  const auto put = [&](const Field& field, std::vector<double>& to) {
    for (std::ptrdiff_t j = 0; j < solver.ny(); ++j) {
      std::copy_n(field.row(j), solver.nx(), &to[static_cast<std::size_t>((solver.first_row() + j) * solver.nx())]);
    }
  };
  put(solver.state().h, all.h);
  put(solver.state().hu, all.hu);
  put(solver.state().hv, all.hv);
  put(solver.bed(), all.bed);
}

// Runs one process's part. Each writes other members of `all`, except for those that only the first sets.
void run_slab(const Scene& scene, Peers& peers, Outcome& all) {
  const Raster whole = refined_shape(scene.coarse, refinement);
  const Slab slab = slab_of(whole.ny, peers.rank(), peers.size());
  const double unit = scene.coarse.dx;
  Problem problem{refine(scene.coarse, refinement, slab.first, slab.count), 0.0,
                  Fault{30, 20, 80, 10, 5, 1, 2, 12 * unit, 10 * unit}, Gaussian{5 * unit, 11 * unit, 4, 10}};
  SolverOptions options;
  options.geometry = scene.geometry;
  options.boundary = scene.boundary;
  options.dt = scene.dt;
  options.threads = 1 + peers.rank() % 2;
  const auto solver = make_solver(problem, options, &peers);
  const double before = solver->volume();
  // Two at cell centres, and one right between the slabs of two processes.
  std::vector<Gauge> gauges;
  const double between = (static_cast<double>(slab_of(whole.ny, 1, 2).first) - 0.5) * whole.dy;
  gauges.emplace_back("west", 15 * unit, 4 * unit, whole, *solver);
  gauges.emplace_back("middle", 5 * unit, between, whole, *solver);
  gauges.emplace_back("north", 16.3 * unit, 21.7 * unit, whole, *solver);
  for (int k = 0; k < 25; ++k) {
    solver->step();
    for (Gauge& gauge : gauges) gauge.record(*solver);
  }
  const double after = solver->volume();
  collect(*solver, all);
  for (std::size_t k = 0; k < gauges.size(); ++k) {
    if (gauges[k].is_here()) all.samples[k] = gauges[k].samples();
  }
  if (peers.rank() != 0) return;
  all.dt = solver->dt();
  all.volume_before = before;
  all.volume_after = after;
  all.substeps = solver->substeps();
}

Outcome outcome_for(const Scene& scene) {
  const Raster whole = refined_shape(scene.coarse, refinement);
  Outcome all;
  for (auto* field : {&all.h, &all.hu, &all.hv, &all.bed}) field->resize(whole.nx * whole.ny);
  return all;
}

Outcome run_slabs(const Scene& scene, int size) {
  Outcome all = outcome_for(scene);
  const Raster whole = refined_shape(scene.coarse, refinement);
  CrewMemory memory(size, 3 * ghosts * (whole.nx + 2 * ghosts), whole.ny);
  std::vector<std::jthread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      SharedPeers peers(memory, rank, SharedPeers::Seconds(600));
      run_slab(scene, peers, all);
    });
  }
  return threads.clear(), all;
}

template <class T>
void expect_same_bits(const std::vector<T>& found, const std::vector<T>& expected, const char* what) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size() * sizeof(T)), 0) << what;
}

class Slabs : public testing::TestWithParam<std::tuple<Geometry, Boundary, double>> {};

TEST_P(Slabs, GiveTheBitsOfTheWhole) {
  const unsigned seed = 41;
  const auto& [geometry, boundary, dt] = GetParam();
  const Scene scene = make_scene(geometry, boundary, dt, seed);
  Outcome whole = outcome_for(scene);
  Alone alone;
  run_slab(scene, alone, whole);
  ASSERT_GT(*std::max_element(whole.hv.begin(), whole.hv.end()), 1.0) << "the test is no test if nothing moves";
  if (dt > 0) {
    ASSERT_GT(whole.substeps, 25) << "the steps were to be divided";
  }
  for (const auto& samples : whole.samples) ASSERT_EQ(samples.size(), 25u);
  for (const int size : {2, 4, 11}) {
    SCOPED_TRACE(std::to_string(size) + " slabs, seed " + std::to_string(seed));
    const Outcome slabs = run_slabs(scene, size);
    expect_same_bits(slabs.bed, whole.bed, "bed");
    expect_same_bits(slabs.h, whole.h, "h");
    expect_same_bits(slabs.hu, whole.hu, "hu");
    expect_same_bits(slabs.hv, whole.hv, "hv");
    for (std::size_t k = 0; k < 3; ++k) expect_same_bits(slabs.samples[k], whole.samples[k], "gauge");
    EXPECT_EQ(slabs.dt, whole.dt);
    EXPECT_EQ(slabs.volume_before, whole.volume_before);
    EXPECT_EQ(slabs.volume_after, whole.volume_after);
    EXPECT_EQ(slabs.substeps, whole.substeps);
  }
}

INSTANTIATE_TEST_SUITE_P(All, Slabs,
                         testing::Combine(testing::Values(Geometry::sphere, Geometry::plane),
                                          testing::Values(Boundary::open, Boundary::wall),
                                          testing::Values(0.0, 80.0)));

TEST(Slabs, RefineToTheBitsOfTheWhole) {
  const Raster coarse = make_scene(Geometry::sphere, Boundary::open, 0, 42).coarse;
  for (const std::size_t factor : {1u, 3u, 7u}) {
    const Raster whole = refine(coarse, factor);
    std::vector<double> rows;
    for (int rank = 0; rank < 3; ++rank) {
      const Slab slab = slab_of(whole.ny, rank, 3);
      const Raster part = refine(coarse, factor, slab.first, slab.count);
      EXPECT_EQ(part.y(0), whole.y(slab.first));
      rows.insert(rows.end(), part.z.begin(), part.z.end());
    }
    expect_same_bits(rows, whole.z, "heights");
  }
}

}  // namespace
}  // namespace tsunami
