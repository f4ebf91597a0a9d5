// check_arrays: compares how a published file describes the array of a block with the configuration: its type, its
// shape, its grid, and the dimension scales of its axes. check_files compares the bytes.
#pragma once

#include <cstdint>
#include <string>

#include "format/plan/stored_as.hpp"
#include "model/config/config.hpp"
#include "testing/hdf5_file.hpp"

namespace tailrace::impl::simulation {

// Returns the difference; "" if there is none. `as`: the dataset; `bytes`: of the block, which has come.
std::string difference_of_array(const Hdf5File& file, int64_t iteration, const Config& config, uint32_t variable,
                                const StoredAs& as, uint64_t bytes);

}  // namespace tailrace::impl::simulation
