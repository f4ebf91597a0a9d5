// Maps the compressors among the filters of a chunk to codecs. src/filter/codecs has those that the server has, too.
#pragma once

#include "hdf5_vol/filters/chunk_filter.hpp"

namespace tailrace::hdf5 {

// Returns true if the library here supports the filter's values. Call it before codec_of, from one thread at a time.
bool can_compress(const ChunkFilter& filter);

// Returns true if the filter fails when the bytes would grow.
bool only_makes_smaller(ChunkFilter::Kind kind);

// Returns the codec of a filter for which is_compressor() is true. It lives in `memory`, until the next filter of its
// kind.
impl::Codec& codec_of(const ChunkFilter& filter, FilterMemory& memory);

}  // namespace tailrace::hdf5
