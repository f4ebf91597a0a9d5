// The zstd filter (32015) for the HDF5 library of this program, which has none: so that the synchronous way may
// compress as tailrace does.
#pragma once

namespace bench::core {

constexpr int kZstdFilter = 32015;

// Makes it known to the library. Throws RunError.
void register_zstd_filter();

}  // namespace bench::core
