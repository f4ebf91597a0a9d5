// SmallWrites: small writes to one file, held back until there are enough for one handover.
//
// A handover costs more than copying a few hundred bytes. The bytes held here belong to the program, so the door
// hands them over before any read, flush, close or fork.
#pragma once

#include <tailrace/tailrace.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

namespace tailrace::process {

class SmallWrites {
 public:
  // Returns true if the write is small enough to be held back.
  static bool is_small(const tailrace_extent& extent) { return extent.length <= kSmall; }
  // Returns true if the write can be added: it lies behind all held ones, and there is room.
  bool fits(const tailrace_extent& extent) const;
  void add(const tailrace_extent& extent, const void* data);
  void clear();

  // Returns the number of writes that were added.
  uint64_t count() const { return count_; }
  bool empty() const { return count_ == 0; }
  // In order, not touching each other; bytes() has their bytes side by side.
  std::span<const tailrace_extent> extents() const { return extents_; }
  const std::byte* bytes() const { return buffer_.get(); }

 private:
  static constexpr uint64_t kSmall = 8 << 10;   // bytes
  static constexpr uint64_t kRoom = 256 << 10;  // bytes
  static constexpr size_t kMost = 1024;         // extents

  std::unique_ptr<std::byte[]> buffer_;  // kRoom bytes; null before the first write
  std::vector<tailrace_extent> extents_;
  uint64_t used_ = 0;  // bytes
  uint64_t count_ = 0;
};

}  // namespace tailrace::process
