// The 2010 Maule earthquake against DART buoy 32412: the wave that the solver computes from sea floor and fault must
// reach the buoy within 10 minutes of the real one, and its first crest must be right within a factor of two.
//
// It needs ../shared/data/chile2010 beside the repository, and is skipped without it.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "esri_grid.hpp"
#include "gauge.hpp"
#include "problem.hpp"

namespace tsunami {
namespace {

const std::filesystem::path data = TSUNAMI_DATA;

// The first crest of both is sought here. Earlier, the buoy shows the shaking ground, stronger than the tsunami,
// which no wave in the sea could have carried over 3 000 km by then; later waves come after it.
constexpr double search_from = 2.5 * 3600, search_until = 3.75 * 3600;
constexpr double arrived = 0.2;  // of the crest

std::vector<Gauge::Sample> read_buoy() {
  std::ifstream in(data / "dart32412_notide.txt");
  std::vector<Gauge::Sample> samples;
  for (Gauge::Sample s{}; in >> s.time >> s.eta;) samples.push_back(s);
  return samples;
}

TEST(Dart32412, ArrivalAndFirstCrest) {
  const auto topo = data / "etopo10min120W60W60S0S.asc.gz";
  if (!std::filesystem::exists(topo)) GTEST_SKIP() << topo << " is missing";
  const Raster sea = crop(read_esri_grid(topo.string()), {-100, -65, -50, -5});
  Problem problem{refine(sea, 2), 0.0, Fault{16, 14, 104, 450, 100, 35, 15, -72.668, -35.826}, {}};
  const auto solver = make_solver(problem, SolverOptions{});
  Gauge gauge("32412", -86.392, -17.975, problem.bed, *solver);
  while (solver->time() < search_until) {
    solver->step();
    gauge.record(*solver);
  }
  const Crest computed = first_crest(gauge.samples(), search_from, search_until, arrived);
  const Crest measured = first_crest(read_buoy(), search_from, search_until, arrived);
  std::printf(
      "arrival: computed %.0f s, measured %.0f s; first crest: computed %.3f m at %.0f s, measured %.3f m at %.0f "
      "s\n",
      computed.arrival, measured.arrival, computed.height, computed.time, measured.height, measured.time);
  EXPECT_NEAR(computed.arrival, measured.arrival, 600);
  EXPECT_NEAR(computed.time, measured.time, 600);
  EXPECT_GT(computed.height, measured.height / 2);
  EXPECT_LT(computed.height, measured.height * 2);
}

}  // namespace
}  // namespace tsunami
