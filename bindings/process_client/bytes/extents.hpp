// Lists of extents: ranges of bytes of a file.
#pragma once

#include <tailrace/tailrace.h>

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

namespace tailrace::process {

inline uint64_t end_of(const tailrace_extent& extent) { return extent.offset + extent.length; }

inline uint64_t bytes_of(std::span<const tailrace_extent> extents) {
  uint64_t bytes = 0;
  for (const tailrace_extent& extent : extents) bytes += extent.length;
  return bytes;
}

// Returns the bytes from the first to the last of all extents, which may have any order; nothing if there are none.
inline tailrace_extent bounds_of(std::span<const tailrace_extent> extents) {
  if (extents.empty()) return {};
  uint64_t begin = UINT64_MAX;
  uint64_t end = 0;
  for (const tailrace_extent& extent : extents) {
    begin = std::min(begin, extent.offset);
    end = std::max(end, end_of(extent));
  }
  return {begin, end - begin};
}

// Appends the extent to the list. Joins it with the last one if it follows that without a gap.
inline void append(std::vector<tailrace_extent>& extents, const tailrace_extent& extent) {
  if (!extents.empty() && end_of(extents.back()) == extent.offset) {
    extents.back().length += extent.length;
  } else {
    extents.push_back(extent);
  }
}

}  // namespace tailrace::process
