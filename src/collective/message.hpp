// Message: bytes that one process sends another; uninitialised when new.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace tailrace::collective {

class Message {
 public:
  Message() = default;
  explicit Message(size_t size) : bytes_(new std::byte[size]), size_(size) {}

  std::byte* data() { return bytes_.get(); }
  const std::byte* data() const { return bytes_.get(); }
  size_t size() const { return size_; }

 private:
  std::unique_ptr<std::byte[]> bytes_;
  size_t size_ = 0;
};

}  // namespace tailrace::collective
