// PendingWrites: which part of a file may have bytes that this process has handed over and that are not yet written.
// One thread at a time.
#pragma once

#include <tailrace/tailrace.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <span>

#include "mpiio/files/process.hpp"

namespace tailrace::mpiio {

class PendingWrites {
 public:
  // Notes what is about to be handed over.
  void add(std::span<const tailrace_extent> extents) {
    any_ = true;
    mark_.reset();
    for (const tailrace_extent& extent : extents) {
      begin_ = std::min(begin_, extent.offset);
      end_ = std::max(end_, extent.offset + extent.length);
    }
  }
  // Forgets all: it is written, or has failed.
  void clear() { *this = PendingWrites(); }

  // Returns true if a flush has to be waited for, or failures of it to be asked for.
  bool any() const { return any_; }
  // Returns true if bytes from `begin` to `end` may be on their way. Asks the server after the first time.
  bool may_have(uint64_t begin, uint64_t end) {
    if (end <= begin_ || begin >= end_) return false;
    if (!mark_.has_value()) {
      mark_ = carrier().mark();
      return true;
    }
    if (!carrier().reached(*mark_)) return true;
    begin_ = UINT64_MAX;
    end_ = 0;
    return false;
  }
  // Returns where the last byte on its way ends.
  uint64_t end() const { return end_; }

 private:
  bool any_ = false;
  uint64_t begin_ = UINT64_MAX;
  uint64_t end_ = 0;
  std::optional<uint64_t> mark_;  // behind all of them
};

}  // namespace tailrace::mpiio
