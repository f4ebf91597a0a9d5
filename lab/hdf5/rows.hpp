// Patterns of programs that do a little at a time: a connector gains nothing for them, and could cost much.
#pragma once

#include <nlohmann/json.hpp>

#include "lab/hdf5/program.hpp"

namespace bench::hdf5 {

// Reads `options.count` rows of 512 bytes of a dataset that was just written, each once, or at random.
nlohmann::json read_back(const Options& options);
// Does so, and writes them again, with each element larger by 1.
nlohmann::json add_to_rows(const Options& options);
// Extends a dataset for each of `options.count` rows of 64 KiB, which are chunks, shuffled and deflated.
nlohmann::json append_rows(const Options& options);
// Flushes the file after each of `options.count` rows of 4 KiB.
nlohmann::json flush_each_row(const Options& options);
// Creates `options.count` datasets of `options.bytes`, and writes each in rows of `options.row` bytes.
nlohmann::json write_parts(const Options& options);
// Writes `options.count` files with a dataset of 80 kB each. It leaves them, empty: ext4 looks at each file that was
// removed in the last minutes when it makes another, which would take most of the time.
nlohmann::json write_files(const Options& options);

}  // namespace bench::hdf5
