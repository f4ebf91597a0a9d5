// The series of output files in a directory: which files, iterations, runs and variables each has, and which clients
// are missing. Looks at a few files of a series: it may have a million.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "command/output/output.hpp"

namespace tailrace::impl {

// Returns the series of a directory as JSON (docs/reference describes `inspect --json`). Adds a line to `damaged` for
// each file that should have iterations, or stripes, and cannot be read. `names`: those in the directory, sorted.
OrderedJson series_in(const std::string& directory, const std::vector<std::string>& names,
                      std::vector<std::string>& damaged);

// Returns the variables of all clients and nodes together: the common name of the series, and each variable with its
// shape, which is null where it is not the same everywhere.
std::vector<std::pair<std::string, OrderedJson>> common_variables(const OrderedJson& series);

// Returns a note for the reader on a series of several runs.
struct RunsNote {
  std::string text = {};    // "" on a series of one run
  bool is_warning = false;  // the runs are mixed: one does not continue another
};
RunsNote runs_note(const OrderedJson& one);

}  // namespace tailrace::impl
