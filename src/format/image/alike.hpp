// Alike: iterations, and datasets, for which HDF5 lays out the same bytes, except for a few that can be changed.
//
// Numbers are compared by their bits, as they are written. Pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "format/plan/iteration_plan.hpp"
#include "model/config/config.hpp"

namespace tailrace::impl {

// The contiguous raw data of a dataset lie elsewhere than before.
struct Move {
  size_t dataset = 0;  // its number in the plan
  uint64_t from = 0;
  uint64_t to = 0;
};

// Returns the moves from one iteration's file to that of another of the same configuration, if besides these the
// files differ only in the number of the iteration, its time and step, and the date; else none. Their ends are not
// compared.
std::optional<std::vector<Move>> moves_between(const IterationPlan& before, const IterationPlan& now);

using NamedDataset = IterationPlan::Datasets::value_type;

// Returns true if the headers of two datasets of one plan differ only in the place of the raw data. Neither is in
// chunks, and they may belong to different variables.
bool have_same_header(const Config& config, const IterationPlan& plan, const NamedDataset& a, const NamedDataset& b);

}  // namespace tailrace::impl
