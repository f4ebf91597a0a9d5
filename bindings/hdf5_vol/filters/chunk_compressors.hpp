// The compressors among the filters of a chunk: what they make, HDF5's filters of these names read. Pure functions
// over bytes; any thread.
#pragma once

#include "hdf5_vol/filters/chunk_filter.hpp"

namespace tailrace::hdf5 {

// Returns true if the library here has what the filter's values ask for. Call it before compress, from one thread at
// a time.
bool can_compress(const ChunkFilter& filter);

// Returns true if the filter fails where the bytes would get larger.
bool only_makes_smaller(ChunkFilter::Kind kind);

// False if it failed: the bytes are what they were. `memory` as for filter_chunk.
bool compress(const ChunkFilter& filter, ByteBuffer& bytes, FilterMemory& memory);

}  // namespace tailrace::hdf5
