// stream_copy: a memcpy for bytes that this cpu will not read again.
//
// The storage, not the program, reads a block that is copied into the pool. An ordinary copy would first fetch every
// line that it overwrites, and evict the program's own data from the cache. Large copies therefore use non-temporal
// stores, which do neither; small copies, which fit beside the program's data, stay ordinary. (glibc does the same,
// but only above three quarters of its idea of the cache, which on large servers is hundreds of MiB:
// docs/decisions/007.)
#pragma once

#include <cstddef>

namespace tailrace::impl {

inline constexpr size_t kStreamFrom = size_t{256} << 10;  // bytes; copies from this size on are non-temporal

// The order in which memory is copied: line after line, or several pages side by side. Which is faster depends on the
// processor (docs/decisions/007).
enum class CopyOrder { lines, pages };

// Returns the order for this processor.
CopyOrder order_here();

// The ranges do not overlap; `to` is aligned to a cache line. On return the bytes are ordered before the caller's
// next stores, as after a memcpy.
void stream_copy(std::byte* to, const std::byte* from, size_t bytes, CopyOrder order = order_here());

}  // namespace tailrace::impl
