// Memory for bytes that nobody sets to anything first, and that can be used again for others. Not thread-safe.
#pragma once

#include <cstddef>
#include <memory>

namespace tailrace::hdf5 {

class ByteBuffer {
 public:
  ByteBuffer() = default;
  explicit ByteBuffer(size_t capacity)
      : bytes_(std::make_unique_for_overwrite<std::byte[]>(capacity)), capacity_(capacity) {}

  std::byte* data() { return bytes_.get(); }
  const std::byte* data() const { return bytes_.get(); }
  size_t size() const { return size_; }
  size_t capacity() const { return capacity_; }
  // Not more than the capacity. What was there stays.
  void set_size(size_t size) { size_ = size; }
  // Has room for so many bytes, if need be in other memory; what was there is lost.
  void make_room(size_t capacity) {
    if (capacity > capacity_) *this = ByteBuffer(capacity);
  }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  size_t capacity_ = 0;
  size_t size_ = 0;
};

}  // namespace tailrace::hdf5
