// Holes: what no block of a shared dataset covers.
//
// Elements that were not written have the variable's fill_value. Without one they are NaN if clients are missing, not
// zeros that look like data. Integers and booleans have no such value, and stay zero. If no client is missing, and
// there is no fill_value, the program left the holes on purpose: they are not written. The holes of a node's file are
// mostly other nodes' parts, if there are other nodes: then they are written only if clients are missing.
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

// Returns the bytes that fill the holes of the plan's shared datasets. `plan` describes the whole file.
std::vector<MetadataPiece> filled_holes(const Config& config, const IterationPlan& plan);

}  // namespace tailrace::impl
