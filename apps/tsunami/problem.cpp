// Applies the sources to the grid. See the header.
#include "problem.hpp"

#include <algorithm>

namespace tsunami {
namespace {

// Adds the effect of the sources to bed and surface of one row.
void move_row(Problem& problem, Geometry geometry, std::size_t j, std::vector<double>& surface) {
  Raster& bed = problem.bed;
  for (std::size_t i = 0; i < bed.nx; ++i) {
    const std::size_t k = j * bed.nx + i;
    const bool wet = bed.z[k] < problem.sea_level;
    const double lift = problem.fault ? uplift(*problem.fault, geometry, bed.x(i), bed.y(j)) : 0.0;
    const double hump = problem.gaussian ? elevation(*problem.gaussian, geometry, bed.x(i), bed.y(j)) : 0.0;
    bed.z[k] += lift;
    surface[k] = wet ? problem.sea_level + lift + hump : bed.z[k];
  }
}

}  // namespace

std::unique_ptr<Solver> make_solver(Problem& problem, const SolverOptions& options, Peers* peers) {
  std::vector<double> surface(problem.bed.z.size());
  Team team(std::max(1, options.threads));
  team.run([&](int thread) {
    for (auto j = static_cast<std::size_t>(thread); j < problem.bed.ny; j += static_cast<std::size_t>(team.size())) {
      move_row(problem, options.geometry, j, surface);
    }
  });
  return std::make_unique<Solver>(problem.bed, surface, options, peers);
}

}  // namespace tsunami
