// The compressors among the filters of a chunk: the codec that each one is. Those that the server has, too, are in
// src/filter/codecs.
#pragma once

#include "hdf5_vol/filters/chunk_filter.hpp"

namespace tailrace::hdf5 {

// Returns true if the library here has what the filter's values ask for. Call it before codec_of, from one thread at
// a time.
bool can_compress(const ChunkFilter& filter);

// Returns true if the filter fails where the bytes would get larger.
bool only_makes_smaller(ChunkFilter::Kind kind);

// The codec of a filter for which is_compressor holds. It is in `memory`, until the next filter of its kind.
impl::Codec& codec_of(const ChunkFilter& filter, FilterMemory& memory);

}  // namespace tailrace::hdf5
