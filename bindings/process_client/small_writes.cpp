#include "process_client/small_writes.hpp"

#include <cstring>

namespace tailrace::process {

bool SmallWrites::fits(const tailrace_extent& extent) const {
  if (empty()) return true;
  const tailrace_extent& last = extents_.back();
  return extent.offset >= last.offset + last.length && used_ + extent.length <= kRoom && extents_.size() < kMost;
}

void SmallWrites::add(const tailrace_extent& extent, const void* data) {
  if (buffer_ == nullptr) buffer_ = std::make_unique_for_overwrite<std::byte[]>(kRoom);
  std::memcpy(buffer_.get() + used_, data, extent.length);
  used_ += extent.length;
  ++count_;
  if (!extents_.empty() && extents_.back().offset + extents_.back().length == extent.offset) {
    extents_.back().length += extent.length;
  } else {
    extents_.push_back(extent);
  }
}

void SmallWrites::clear() {
  extents_.clear();
  used_ = 0;
  count_ = 0;
}

}  // namespace tailrace::process
