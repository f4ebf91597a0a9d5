// ReadPattern: recognizes reads that move through a file in equal steps, and says which bytes will be read next.
// Pure.
#pragma once

#include <tailrace/tailrace.h>

#include <cstdint>
#include <vector>

namespace tailrace::mpiio {

class ReadPattern {
 public:
  // Notes a read of `length` bytes from `offset` on, with gaps or without. Returns what to read ahead: nothing,
  // unless the last two steps were equal and jumped over some bytes. Where a read follows the one before without a
  // gap, the system reads ahead by itself.
  std::vector<tailrace_extent> note(uint64_t offset, uint64_t length) {
    const auto step = static_cast<int64_t>(offset - offset_);
    const bool equal = seen_ >= 2 && step == step_ && length == length_;
    const bool jumps = step < 0 || static_cast<uint64_t>(step) > length;
    seen_ = length == length_ && seen_ > 0 ? seen_ + 1 : 1;
    offset_ = offset;
    step_ = step;
    length_ = length;
    if (!equal || !jumps || length > kMost) {
      ahead_ = 0;
      return {};
    }
    std::vector<tailrace_extent> next;
    for (; ahead_ < kSteps; ++ahead_) add(next, ahead_ + 1);
    --ahead_;  // the next step uses one up
    return next;
  }

 private:
  static constexpr int64_t kSteps = 4;                  // that are read ahead
  static constexpr uint64_t kMost = uint64_t{8} << 20;  // bytes of a read that is read ahead

  void add(std::vector<tailrace_extent>& next, int64_t steps) const {
    const int64_t at = static_cast<int64_t>(offset_) + steps * step_;
    if (at >= 0) next.push_back({static_cast<uint64_t>(at), length_});
  }

  uint64_t offset_ = 0;
  uint64_t length_ = 0;
  int64_t step_ = 0;
  uint64_t seen_ = 0;  // successive reads of this length
  int64_t ahead_ = 0;  // steps that have been read ahead
};

}  // namespace tailrace::mpiio
