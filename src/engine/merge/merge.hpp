// The merge stage: joins adjacent pieces of a file into one access, even if they belong to different requests.
//
// Pure functions over plain data. All requests here are ready, so none conflict, and they may be merged in any order.
// Reads may cover small holes (data sieving). Small writes may be joined over small holes if the storage leaves out
// the bytes between them. Bytes stay where they are: an access gathers from, or scatters to, the memory of each
// request.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/access.hpp"

namespace tailrace::impl {

struct MergeLimits {
  uint64_t largest = uint64_t{8} << 20;  // most bytes of a joined access; a piece of this size stays alone
  uint64_t alignment = 0;                // joined accesses are cut at its multiples; 0: between pieces
  uint32_t max_segments = UINT32_MAX;    // most memory segments of a joined access
  uint64_t sieve = 0;                    // largest hole that a read covers; 0: none
  double waste = 0.5;                    // largest share of holes in an access's bytes
  // A scattered write has holes, which it leaves out. It may have:
  uint64_t scatter = 0;              // largest hole, bytes; 0: there are none
  uint64_t scatter_piece = 4096;     // largest piece, bytes: longer ones are written as fast by themselves
  uint64_t scatter_run = 64 << 10;   // most bytes between two holes
  uint32_t scatter_segments = 8192;  // most memory segments and holes
  uint32_t scatter_from = 32;        // fewest holes: with fewer, each run between them is a write of its own
};

// Pieces of one request that must be carried out, in order.
struct Share {
  const Request* request = nullptr;
  std::span<const Piece> pieces;
};

// Returns the accesses that carry out `shares` (of reads and writes, of any files), in order of file, operation and
// offset. Each byte of each share is in exactly one access. O(n log k) for n pieces in k shares.
std::vector<Access> merge(std::span<const Share> shares, const MergeLimits& limits);

}  // namespace tailrace::impl
