// BytePattern: bytes of a file in equal blocks at equal steps, as regular accesses have them. Pure.
#pragma once

#include <tailrace/tailrace.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tailrace::mpiio {

struct BytePattern {
  uint64_t begin = 0;   // of the first block
  uint64_t length = 0;  // of each block, in bytes; not 0
  uint64_t step = 0;    // from block to block, at least `length`; 0 if there is only one
  uint64_t count = 1;   // of the blocks

  uint64_t end() const { return begin + (count - 1) * step + length; }
  bool operator==(const BytePattern&) const = default;
};

// Describes the extents, none of them empty, in at most `most` patterns. If that needs more, one pattern without gaps
// covers all of them.
std::vector<BytePattern> patterns_of(std::span<const tailrace_extent> extents, size_t most);

// Returns one pattern for both if `next` goes on where `first` ends, or if they are equal. `hull`: also if each is a
// single block; then with the bytes between them.
std::optional<BytePattern> join(const BytePattern& first, const BytePattern& next, bool hull);

// Returns true if the patterns have a byte in common. May also return true for two irregular patterns that have none,
// but never if one of them has a single block.
bool touch(const BytePattern& one, const BytePattern& other);

}  // namespace tailrace::mpiio
