// Holes: what no block of a shared dataset covers.
//
// If clients are missing, the file says so, and elements that nobody wrote are NaN, not zeros that look like data.
// Integers and booleans have no such value, and stay zero. If no client is missing, the program left the holes on
// purpose: they are not written.
#pragma once

#include <cstdint>
#include <vector>

#include "format/format.hpp"
#include "format/plan/iteration_plan.hpp"

namespace tailrace::impl {

// Returns the boxes of the whole that no block covers. Boxes and blocks are an offset followed by a shape, as
// place_of() returns them.
std::vector<std::vector<uint64_t>> holes_of(const std::vector<uint64_t>& whole,
                                            const std::vector<std::vector<uint64_t>>& blocks);

// Returns the bytes that make the holes of the plan's shared datasets NaN; none if no client is missing. `plan`
// describes the whole file.
std::vector<MetadataPiece> filled_holes(const IterationPlan& plan);

}  // namespace tailrace::impl
