// The zstd filter (32015) for this program's HDF5 library, which has none, so that the synchronous way can compress
// as tailrace does.
#pragma once

namespace bench::core {

constexpr int kZstdFilter = 32015;

// Registers it with the library. Throws RunError.
void register_zstd_filter();

}  // namespace bench::core
