// Patterns of programs that do a little at a time: a connector gains nothing for them, and could cost them much.
#pragma once

#include <nlohmann/json.hpp>

#include "bench/hdf5/program.hpp"

namespace bench::hdf5 {

// `options.count` rows of 512 bytes of a dataset that has just been written are read, each once, or at random.
nlohmann::json read_back(const Options& options);
// … and written again, each element larger by 1.
nlohmann::json add_to_rows(const Options& options);
// A dataset is extended for each of `options.count` rows of 64 KiB, which is a chunk, shuffled and deflated.
nlohmann::json append_rows(const Options& options);
// The file is flushed after each of `options.count` rows of 4 KiB.
nlohmann::json flush_each_row(const Options& options);
// `options.count` datasets of `options.bytes` are made, each written in rows of `options.row` bytes.
nlohmann::json write_parts(const Options& options);
// `options.count` files with a dataset of 80 kB each. They are left, but empty: ext4 looks at each file that was
// removed in the last minutes when it makes another, which would be most of the time.
nlohmann::json write_files(const Options& options);

}  // namespace bench::hdf5
