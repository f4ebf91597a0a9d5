#include "engine/execute/bounce_buffers.hpp"

#include "base/memory/stream_copy.hpp"

namespace tailrace::impl {

std::byte* BounceBuffers::fill(const void* from, size_t size) {
  TAILRACE_ASSERT(size <= bytes_);
  std::byte* const buffer = take();
  if (buffer != nullptr) stream_copy(buffer, static_cast<const std::byte*>(from), size);
  return buffer;
}

std::byte* BounceBuffers::take() {
  if (!memory_ && count_ > 0) get_memory();
  if (free_.empty()) return nullptr;
  std::byte* const buffer = free_.back();
  free_.pop_back();
  return buffer;
}

void BounceBuffers::get_memory() {
  Result<MappedMemory> memory = MappedMemory::create(bytes_ * count_, false);
  if (!memory.ok()) {
    count_ = 0;
    return;
  }
  memory_.emplace(std::move(memory).value());
  for (uint32_t i = count_; i-- > 0;) free_.push_back(memory_->bytes().data() + i * bytes_);
}

}  // namespace tailrace::impl
