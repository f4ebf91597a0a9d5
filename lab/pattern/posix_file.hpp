// PosixFile: an open file that closes itself, and whose calls throw RunError with the file's name and the reason.
#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>

#include "lab/pattern/errors.hpp"

namespace bench {

class PosixFile {
 public:
  PosixFile() = default;
  PosixFile(std::string name, int flags) : name_(std::move(name)), descriptor_(::open(name_.c_str(), flags, 0666)) {
    require(descriptor_ >= 0, "open '" + name_ + "'");
  }
  PosixFile(PosixFile&& other) noexcept
      : name_(std::move(other.name_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  PosixFile& operator=(PosixFile&& other) noexcept {
    std::swap(name_, other.name_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  ~PosixFile() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }

  int descriptor() const { return descriptor_; }
  const std::string& name() const { return name_; }

  // Writes all bytes, and continues where the system wrote only a part.
  void write_at(uint64_t offset, const char* data, uint64_t bytes) const {
    while (bytes > 0) {
      const ssize_t written = ::pwrite(descriptor_, data, bytes, static_cast<off_t>(offset));
      if (written < 0 && errno == EINTR) continue;
      require(written > 0, "write '" + name_ + "'", written == 0 ? EIO : errno);
      const auto done = static_cast<uint64_t>(written);
      offset += done;
      data += done;
      bytes -= done;
    }
  }

  // Reserves space, if the file system can do that.
  void reserve(uint64_t bytes) const {
    if (::fallocate(descriptor_, 0, 0, static_cast<off_t>(bytes)) == 0) return;
    require(errno == EOPNOTSUPP, "reserve room for '" + name_ + "'");
  }

  void resize(uint64_t bytes) const {
    require(::ftruncate(descriptor_, static_cast<off_t>(bytes)) == 0, "resize '" + name_ + "'");
  }

  void sync() const { require(::fdatasync(descriptor_) == 0, "sync '" + name_ + "'"); }

  // The close may be the first to report failures of earlier writes.
  void close() { require(::close(std::exchange(descriptor_, -1)) == 0, "close '" + name_ + "'"); }

 private:
  std::string name_;
  int descriptor_ = -1;
};

}  // namespace bench
