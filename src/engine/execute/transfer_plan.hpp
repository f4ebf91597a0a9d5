// How an access is cut into transfers: pure arithmetic, no state.
//
// Memory that lies in the file as it lies in memory (modulo the page) goes without the page cache, in large aligned
// pieces: one long run of it, or many that meet at pages. A long run that lies otherwise goes so, too, if it can be
// copied into an aligned buffer first. What is ragged at the ends, and everything small, goes through the page cache.
#pragma once

#include <sys/uio.h>

#include <cstdint>
#include <vector>

#include "model/access.hpp"

namespace tailrace::impl {

struct TransferLimits {
  uint64_t largest = uint64_t{8} << 20;        // bytes of one transfer; a multiple of direct_alignment
  uint64_t direct_from = uint64_t{128} << 10;  // what is shorter goes through the page cache
  uint32_t max_segments = 1;
  uint32_t direct_alignment = 0;         // 0: nothing goes direct
  uint64_t largest_cached = UINT64_MAX;  // bytes of one transfer through the page cache
  uint64_t bounce = 0;  // bytes of one transfer by an aligned buffer, a multiple of direct_alignment; 0: none does
};

struct PlannedTransfer {
  Extent extent;  // in the file
  bool direct = false;
  bool bounced = false;         // direct, when the segments have been copied into an aligned buffer
  std::vector<iovec> segments;  // null: of a hole
};

// The first transfer of what is left of `access`: the part of its extent from `range.offset` to `range.end()`. Begins
// at range.offset, is not empty and does not go past range.end().
PlannedTransfer next_transfer(const Access& access, const Extent& range, const TransferLimits& limits);

}  // namespace tailrace::impl
