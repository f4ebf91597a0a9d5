// Patterns of programs that compute and write in a loop, and remove or replace what earlier iterations have written.
#pragma once

#include <nlohmann/json.hpp>

#include "lab/hdf5/program.hpp"

namespace bench::hdf5 {

// Writes a file of `options.bytes` in each iteration, and removes the file of three iterations before.
nlohmann::json keep_three(const Options& options);
// Writes a file beside the last one, and renames it over that.
nlohmann::json replace_file(const Options& options);
// Writes the same file again and again.
nlohmann::json overwrite_file(const Options& options);
// Writes a dataset of one file in each iteration, and deletes that of three iterations before.
nlohmann::json delete_datasets(const Options& options);

}  // namespace bench::hdf5
