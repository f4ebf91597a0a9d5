// Problem: from bathymetry and source to a solver that is ready to take its first step.
//
// The one place where sources meet the grid. Reads no files and parses no options.
#pragma once

#include <memory>
#include <optional>

#include "raster.hpp"
#include "solver.hpp"
#include "source.hpp"

namespace tsunami {

struct Problem {
  Raster bed;  // already refined, of several processes this one's slab; the fault moves it
  double sea_level = 0;
  std::optional<Fault> fault;
  std::optional<Gaussian> gaussian;
};

// Water at rest up to the sea level, then moved by the sources: a fault lifts bed and water together, a Gaussian the
// water alone. `problem.bed` is the moved bed afterwards. With peers it is collective. Throws Error.
std::unique_ptr<Solver> make_solver(Problem& problem, const SolverOptions& options, Peers* peers = nullptr);

}  // namespace tsunami
