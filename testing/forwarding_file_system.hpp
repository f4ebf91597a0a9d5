// ForwardingFileSystem: passes every call on to another file system. It is a base for classes that change a few
// calls.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "storage/file_system.hpp"

namespace tailrace::impl {

class ForwardingFileSystem : public FileSystem {
 public:
  // `inner` must outlive this.
  explicit ForwardingFileSystem(FileSystem& inner) : inner_(inner) {}

  Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device) override {
    return inner_.open(path, mode, device);
  }
  void close(FileHandle file) override { inner_.close(file); }
  bool direct(FileHandle file) const override { return inner_.direct(file); }
  Result<uint64_t> size(FileHandle file) const override { return inner_.size(file); }
  Result<size_t> read(FileHandle file, uint64_t offset, std::span<std::byte> to) const override {
    return inner_.read(file, offset, to);
  }
  Status write(FileHandle file, uint64_t offset, std::span<const std::byte> from) override {
    return inner_.write(file, offset, from);
  }
  int64_t scatter(FileHandle file, uint64_t offset, std::span<const iovec> segments) override {
    return inner_.scatter(file, offset, segments);
  }
  Status sync(FileHandle file) override { return inner_.sync(file); }
  void write_behind(FileHandle file, uint64_t offset, uint64_t length) override {
    inner_.write_behind(file, offset, length);
  }
  Status allocate(FileHandle file, uint64_t offset, uint64_t length) override {
    return inner_.allocate(file, offset, length);
  }
  Status truncate(FileHandle file, uint64_t size) override { return inner_.truncate(file, size); }
  Status rename(FileHandle file, const std::string& to, bool replace) override {
    return inner_.rename(file, to, replace);
  }
  Result<NameFacts> stat(const std::string& path) const override { return inner_.stat(path); }
  Result<std::vector<std::string>> list(const std::string& directory) const override {
    return inner_.list(directory);
  }
  Status make_directory(const std::string& path) override { return inner_.make_directory(path); }
  Status remove(const std::string& path) override { return inner_.remove(path); }
  Status check_below(const std::string& root, const std::string& relative) const override {
    return inner_.check_below(root, relative);
  }
  Result<std::unique_ptr<NameLock>> lock(const std::string& path, const std::string& holder) override {
    return inner_.lock(path, holder);
  }
  bool is_locked(const std::string& path) const override { return inner_.is_locked(path); }

 private:
  FileSystem& inner_;
};

}  // namespace tailrace::impl
