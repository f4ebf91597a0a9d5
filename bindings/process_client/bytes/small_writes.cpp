#include "process_client/bytes/small_writes.hpp"

#include <cstring>

#include "process_client/bytes/extents.hpp"

namespace tailrace::process {

bool SmallWrites::fits(const tailrace_extent& extent) const {
  if (empty()) return true;
  return extent.offset >= end_of(extents_.back()) && used_ + extent.length <= kRoom && extents_.size() < kMost;
}

void SmallWrites::add(const tailrace_extent& extent, const void* data) {
  if (buffer_ == nullptr) buffer_.reset(new std::byte[kRoom]);
  std::memcpy(buffer_.get() + used_, data, extent.length);
  used_ += extent.length;
  ++count_;
  append(extents_, extent);
}

void SmallWrites::clear() {
  extents_.clear();
  used_ = 0;
  count_ = 0;
}

}  // namespace tailrace::process
