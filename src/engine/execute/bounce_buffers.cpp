#include "engine/execute/bounce_buffers.hpp"

#include <cstring>
#include <utility>

#include "base/memory/stream_copy.hpp"

namespace tailrace::impl {

BounceBuffers::BounceBuffers(uint64_t bytes, uint32_t count, bool prefault)
    : bytes_(bytes), count_(bytes > 0 ? count : 0) {
  if (!prefault || count_ == 0) return;
  get_memory();
  if (!memory_) return;
  Toucher::Options options;
  options.take = [this](size_t offset, size_t size) { return memory_->take_aside(offset, size); };
  toucher_.emplace(memory_->bytes().size(), std::move(options));
}

std::byte* BounceBuffers::fill(std::span<const iovec> from) {
  std::byte* const buffer = take();
  if (buffer == nullptr) return nullptr;
  if (from.size() == 1) {
    TAILRACE_ASSERT(from[0].iov_len <= bytes_);
    stream_copy(buffer, static_cast<const std::byte*>(from[0].iov_base), from[0].iov_len);
    return buffer;
  }
  uint64_t filled = 0;
  for (const iovec& part : from) {
    TAILRACE_ASSERT(filled + part.iov_len <= bytes_);
    std::memcpy(buffer + filled, part.iov_base, part.iov_len);
    filled += part.iov_len;
  }
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
