// stream_copy: a memcpy for bytes that this cpu will not look at again.
//
// A block that is copied into the pool is read next by the storage, not by the program. An ordinary copy would first
// fetch every line it is about to overwrite, and push the program's own data out of the cache. Large copies therefore
// use non-temporal stores, which do neither; small ones, which fit beside the program's data, stay ordinary. (glibc
// does the same, but only above three quarters of what it takes for the cache, which on large servers is hundreds of
// MiB: docs/decisions/007.)
#pragma once

#include <cstddef>

namespace tailrace::impl {

inline constexpr size_t kStreamFrom = size_t{256} << 10;  // bytes; from here on copies are non-temporal

// The ranges do not overlap; `to` is aligned to a cache line. When it returns the bytes are ordered before what the
// caller stores next, as after a memcpy.
void stream_copy(std::byte* to, const std::byte* from, size_t bytes);

}  // namespace tailrace::impl
