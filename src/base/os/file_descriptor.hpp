// FileDescriptor: owns one open descriptor of the operating system. Closes it, and does nothing else.
#pragma once

#include <unistd.h>

#include <utility>

namespace tailrace::impl {

class FileDescriptor {
 public:
  FileDescriptor() = default;
  // Takes ownership of `fd`; negative: none.
  explicit FileDescriptor(int fd) : fd_(fd) {}
  FileDescriptor(FileDescriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept {
    if (this != &other) {
      close();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  ~FileDescriptor() { close(); }

  bool is_open() const { return fd_ >= 0; }
  int get() const { return fd_; }
  // Returns the descriptor and gives up its ownership.
  int release() { return std::exchange(fd_, -1); }
  void close() {
    if (fd_ >= 0) ::close(fd_);
    fd_ = -1;
  }

 private:
  int fd_ = -1;
};

}  // namespace tailrace::impl
