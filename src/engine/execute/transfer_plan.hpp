// next_transfer: splits an access into transfers. Pure arithmetic, no state.
//
// Memory with the same alignment as its place in the file (modulo the page) bypasses the page cache, in large aligned
// pieces: one long run, or many that meet at pages. Long runs with another alignment also do if they can be copied
// into an aligned buffer first; so do many short ones, since devices accept few segments in one request. Ragged ends
// and all small transfers go through the page cache. So do writes with holes.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <vector>

#include "model/access.hpp"

namespace tailrace::impl {

struct TransferLimits {
  uint64_t largest = uint64_t{8} << 20;        // most bytes of one transfer; a multiple of direct_alignment
  uint64_t direct_from = uint64_t{128} << 10;  // shorter ones go through the page cache
  uint32_t max_segments = 1;
  uint32_t direct_alignment = 0;         // 0: no direct transfers
  uint64_t largest_cached = UINT64_MAX;  // most bytes of one transfer through the page cache
  uint64_t bounce = 0;  // most bytes of one transfer by an aligned buffer, a multiple of direct_alignment; 0: none
  uint64_t least_segment = uint64_t{16} << 10;  // bytes; if segments are shorter on average, copying them is faster
  uint32_t scatter_segments = 8192;             // instead of max_segments, for a write with holes
};

struct PlannedTransfer {
  Extent extent;  // in the file
  bool direct = false;
  bool bounced = false;         // direct, after its segments have been copied into an aligned buffer
  bool scattered = false;       // a write that leaves its holes out
  std::vector<iovec> segments;  // null memory: a hole
};

// Returns the first transfer for the rest of `access`: the part of its extent from `range.offset` to `range.end()`.
// The transfer begins at range.offset, is not empty and does not exceed range.end().
PlannedTransfer next_transfer(const Access& access, const Extent& range, const TransferLimits& limits);

}  // namespace tailrace::impl
