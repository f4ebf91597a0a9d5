// RootedFiles: the file system of a RootedStorage. It resolves each path below one of the roots, and passes the call
// on with a path that cannot lead anywhere else.
//
// Names that a call makes, replaces or removes, and those of raw files, are resolved up to their directory; the last
// component is never followed. Other names that a call opens are resolved whole: a symbolic link below a root may
// lead to a file below the same root. Messages have the paths that the caller gave.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.hpp"
#include "base/os/file_descriptor.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

class RootedFiles final : public FileSystem {
 public:
  struct Root {
    std::string path;  // absolute, without a slash at its end
    FileDescriptor directory;
  };

  // Borrows `inner`, which takes paths of the operating system.
  RootedFiles(FileSystem& inner, std::vector<Root> roots) : inner_(inner), roots_(std::move(roots)) {}

  Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device) override;
  void close(FileHandle file) override;
  bool direct(FileHandle file) const override { return inner_.direct(file); }
  Result<uint64_t> size(FileHandle file) const override { return inner_.size(file); }
  Result<size_t> read(FileHandle file, uint64_t offset, std::span<std::byte> to) const override {
    return inner_.read(file, offset, to);
  }
  Status write(FileHandle file, uint64_t offset, std::span<const std::byte> from) override {
    return inner_.write(file, offset, from);
  }
  Status sync(FileHandle file) override { return inner_.sync(file); }
  void write_behind(FileHandle file, uint64_t offset, uint64_t length) override {
    inner_.write_behind(file, offset, length);
  }
  Status allocate(FileHandle file, uint64_t offset, uint64_t length) override {
    return inner_.allocate(file, offset, length);
  }
  Status truncate(FileHandle file, uint64_t size) override { return inner_.truncate(file, size); }
  Status rename(FileHandle file, const std::string& to, bool replace) override;
  Result<NameFacts> stat(const std::string& path) const override;
  Result<std::vector<std::string>> list(const std::string& directory) const override;
  Status make_directory(const std::string& path) override;
  Status remove(const std::string& path) override;
  Status check_below(const std::string& root, const std::string& relative) const override;
  Result<std::unique_ptr<NameLock>> lock(const std::string& path, const std::string& holder) override;
  bool is_locked(const std::string& path) const override;

  // Returns the root that contains the path, and the path below it ("." for the root itself). Fails with EACCES for
  // paths that are not absolute, lie below no root, or contain "..".
  struct Below {
    const Root* root = nullptr;
    std::string relative;
  };
  Result<Below> below(const char* operation, const std::string& path) const;

 private:
  // A path that was resolved: `descriptor` keeps it from leading elsewhere.
  struct Resolved {
    std::shared_ptr<FileDescriptor> descriptor;
    std::string inner;  // for the file system behind
  };
  // The directory of an open file, and its name as the caller knows it.
  struct Open {
    std::shared_ptr<FileDescriptor> directory;
    std::string path;
  };
  class Lock;

  // A reference is valid until the file is closed.
  Open& at(FileHandle file);
  Result<Resolved> whole(const char* operation, const std::string& path, int flags) const;
  Result<Resolved> in_directory(const char* operation, const std::string& path) const;
  static Status with_path(const Status& status, const Resolved& resolved, const std::string& path);

  FileSystem& inner_;
  const std::vector<Root> roots_;
  mutable Mutex mutex_;
  std::unordered_map<FileHandle, Open> open_ TAILRACE_GUARDED_BY(mutex_);
};

}  // namespace tailrace::impl
