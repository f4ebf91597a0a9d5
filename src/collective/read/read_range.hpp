// ReadRange: a range of the file that an aggregator holds in memory. It reads blocks of it when a piece needs them,
// and each block once, with the bytes between the pieces (data sieving).
#pragma once

#include <tailrace/tailrace.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "collective/read/source.hpp"

namespace tailrace::collective {

class ReadRange {
 public:
  // `bytes`: of a range; at least 1. It takes that much memory.
  explicit ReadRange(uint64_t bytes);

  // Moves to the range from `begin` to `end`, and forgets what it holds.
  void move(uint64_t begin, uint64_t end);
  // Reads what is missing of the pieces, which ascend and are inside the range. Returns an error, or 0.
  int fill(std::span<const tailrace_extent> pieces, Source& source);
  // Copies the pieces' bytes to `out`, up to the end of the file. Returns how many. Call fill() before.
  uint64_t copy(std::span<const tailrace_extent> pieces, std::byte* out) const;

 private:
  static constexpr uint64_t kBlock = uint64_t{64} << 10;  // bytes

  uint64_t block_of(uint64_t offset) const { return (offset - begin_) / kBlock; }
  int read(uint64_t first, uint64_t last, Source& source);

  std::unique_ptr<std::byte[]> bytes_;
  std::vector<bool> has_;  // by block
  uint64_t begin_ = 0;
  uint64_t end_ = 0;
  uint64_t file_end_ = UINT64_MAX;  // where the file ends, once a read has met it
};

}  // namespace tailrace::collective
