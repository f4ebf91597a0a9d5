// Which filters of a dataset can be applied here, as what HDF5 says of them.
#pragma once

#include <vector>

#include "hdf5_vol/filters/chunk_filter.hpp"
#include "hdf5_vol/host/host.hpp"

namespace tailrace::hdf5 {

// Those of a dataset's creation properties; none if one of them is left to HDF5, and so are all.
std::vector<ChunkFilter> known_filters(const Host& host, hid_t dcpl);

}  // namespace tailrace::hdf5
