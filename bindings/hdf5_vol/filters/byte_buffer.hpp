// ByteBuffer: uninitialised memory, which can be used again. Not thread-safe.
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
  // `size` is at most the capacity. Keeps the bytes.
  void set_size(size_t size) { size_ = size; }
  // Makes room for `capacity` bytes, in new memory if need be; the old bytes are then lost.
  void make_room(size_t capacity) {
    if (capacity > capacity_) *this = ByteBuffer(capacity);
  }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  size_t capacity_ = 0;
  size_t size_ = 0;
};

}  // namespace tailrace::hdf5
