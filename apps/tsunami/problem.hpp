// Problem: makes a solver, ready for its first step, from bathymetry and source.
//
// Only here sources meet the grid. Reads no files and parses no options.
#pragma once

#include <memory>
#include <optional>

#include "raster.hpp"
#include "solver.hpp"
#include "source.hpp"

namespace tsunami {

struct Problem {
  Raster bed;  // refined; with several processes, this one's slab; the fault moves it
  double sea_level = 0;
  std::optional<Fault> fault;
  std::optional<Gaussian> gaussian;
};

// Makes a solver for water at rest up to the sea level, which the sources then move: a fault lifts bed and water
// together, a Gaussian only the water. Afterwards `problem.bed` is the moved bed. Collective with peers. Throws
// Error.
std::unique_ptr<Solver> make_solver(Problem& problem, const SolverOptions& options, Peers* peers = nullptr);

}  // namespace tsunami
