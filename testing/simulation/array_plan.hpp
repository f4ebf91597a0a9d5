// array_plan: varies the arrays of a run's configuration: their types and ranks, scalars, vectors, the grids of
// meshes, grids that move with the iteration, and dimension scales.
//
// Plain data. Each array keeps a length along its first axis, by which programs change it.
#pragma once

#include <cstdint>

#include "model/config/config.hpp"
#include "testing/simulation/split_dice.hpp"

namespace tailrace::impl::simulation {

// Varies the arrays of some runs. `config`: as sample_config() makes it, with one layout for each variable, and with
// a parameter for each length; all arrays have one axis.
void vary_arrays(SplitDice dice, Config& config);

// Returns true if the grids move: their origin along the first axis is then origin_of() of each iteration.
bool grids_move(const Config& config);
void hold_grids(Config& config);
inline constexpr const char* kOriginParameter = "z_origin";
inline double origin_of(int64_t iteration) { return 10 + static_cast<double>(iteration) / 4; }

// Returns the variable whose parameter sets the length of this one: itself, or the first component of its vector.
// Returns -1 for a scalar.
int32_t leader_of(const Config& config, uint32_t variable);

// Returns the bytes of an array of this length along the first axis.
uint64_t bytes_of_length(const Layout& layout, uint64_t length);

}  // namespace tailrace::impl::simulation
