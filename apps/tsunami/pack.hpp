// pack: converts the solver's rows, with their ghost cells, to the dense field that is written.
//
// It runs on the solver's threads, and writes straight into the memory that the output provided, so that no other
// copy of a field ever exists.
#pragma once

#include <cstddef>

#include "output.hpp"
#include "solver.hpp"

namespace tsunami {

enum Variable : std::size_t { eta = 0, hu = 1, hv = 2, variable_count = 3 };

// Returns the variables that are written, in the order of the enumeration.
std::vector<VariableSpec> output_variables();

// Packs a variable. On dry land eta is the height of the ground.
void pack(Solver& solver, Variable variable, Precision precision, void* out);

}  // namespace tsunami
