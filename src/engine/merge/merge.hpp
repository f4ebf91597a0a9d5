// The merge stage: what lies side by side in a file becomes one access, whoever's request it belongs to.
//
// Pure functions over plain data. What is merged is ready, so nothing of it conflicts, and it may be merged in any
// order. Holes are never written over; reads may go over small ones (data sieving). Bytes stay where they are: an
// access gathers from, or scatters to, the memory of each request.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/access.hpp"

namespace tailrace::impl {

struct MergeLimits {
  uint64_t largest = uint64_t{8} << 20;  // bytes of a joined access; a piece as large as that stays alone
  uint64_t alignment = 0;                // where one must be cut, it is cut at a multiple of this; 0: between pieces
  uint32_t max_segments = UINT32_MAX;    // of memory, in a joined access
  uint64_t sieve = 0;                    // the largest hole that a read goes over; 0: none
  double waste = 0.5;                    // the share of an access's bytes that may be holes
};

// Pieces of one request that are to be carried out, in order.
struct Share {
  const Request* request = nullptr;
  std::span<const Piece> pieces;
};

// The accesses that carry out `shares` (of reads and writes, of any files), in order of file, operation and offset.
// Each byte of each share is in exactly one. O(n log k) for n pieces in k shares.
std::vector<Access> merge(std::span<const Share> shares, const MergeLimits& limits);

}  // namespace tailrace::impl
