// Finds the filters of a dataset that the connector can apply itself.
#pragma once

#include <vector>

#include "hdf5_vol/filters/chunk_filter.hpp"
#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

// Returns the filters in the dataset's creation properties. Returns none if HDF5 has to apply one of them: then it
// applies them all.
std::vector<ChunkFilter> known_filters(const Host& host, hid_t dcpl);

}  // namespace tailrace::hdf5
