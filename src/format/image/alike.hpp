// Alike: iterations, and datasets, for which HDF5 lays out the same bytes, except for a few that can be changed.
//
// Numbers are compared by their bits, as they are written. Pure functions.
#pragma once

#include "format/plan/iteration_plan.hpp"
#include "model/config/config.hpp"

namespace tailrace::impl {

// Returns true if the files of two iterations of one configuration differ only in the number of the iteration, its
// time and step, the date, and the places of contiguous raw data. Their ends are not compared.
bool is_alike(const IterationPlan& a, const IterationPlan& b);

using NamedDataset = IterationPlan::Datasets::value_type;

// Returns true if the headers of two datasets of one plan differ only in the place of the raw data. Neither is in
// chunks, and they may belong to different variables.
bool have_same_header(const Config& config, const IterationPlan& plan, const NamedDataset& a, const NamedDataset& b);

}  // namespace tailrace::impl
