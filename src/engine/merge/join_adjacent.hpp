// The merge stage, in its simplest form: requests whose bytes lie side by side in a file become one access.
//
// A pure function over plain data. The requests of a batch are ready, so none of them conflicts with another and they
// may be joined in any order. Only small pieces are joined: a large one gains nothing and would fail together.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "model/access.hpp"

namespace tailrace::impl {

struct MergeLimits {
  uint64_t largest = uint64_t{8} << 20;  // bytes of a joined access
};

// The accesses that carry out `batch` (reads and writes of any files). Each byte of each request is in exactly one.
std::vector<Access> join_adjacent(std::span<const Request* const> batch, const MergeLimits& limits);

}  // namespace tailrace::impl
