// MemoryFileSystem: names and files in RAM. Implements the port storage/file_system.hpp.
//
// It stores no directories: every directory exists, and contains what the names of files imply. Otherwise files
// behave as on a file system: holes read as zeros, a removed file lives while it is open, a rename replaces. Errors
// are those of the system calls. No other process sees these files, so every lock is free.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "storage/file_table.hpp"

namespace tailrace::impl {

class MemoryFileSystem final : public FileSystem {
 public:
  using Bytes = std::vector<std::byte>;

  Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device) override;
  void close(FileHandle file) override { files_.erase(file); }
  bool direct(FileHandle) const override { return false; }
  Result<uint64_t> size(FileHandle file) const override;
  Result<size_t> read(FileHandle file, uint64_t offset, std::span<std::byte> to) const override;
  Status write(FileHandle file, uint64_t offset, std::span<const std::byte> from) override;
  Status sync(FileHandle) override { return {}; }
  Status allocate(FileHandle file, uint64_t offset, uint64_t length) override;
  Status truncate(FileHandle file, uint64_t size) override;
  Status rename(FileHandle file, const std::string& to, bool replace) override;
  Result<NameFacts> stat(const std::string& path) const override;
  Result<std::vector<std::string>> list(const std::string& directory) const override;
  Status make_directory(const std::string&) override { return {}; }
  Status remove(const std::string& path) override;
  Status check_below(const std::string&, const std::string&) const override { return {}; }
  Result<std::unique_ptr<NameLock>> lock(const std::string& path, const std::string& holder) override;
  bool is_locked(const std::string&) const override { return false; }

  // Makes the file long enough for `length` bytes from `offset` on, unless `length` is 0. Returns 0 or the errno.
  int make_room(FileHandle file, uint64_t offset, uint64_t length);

  // Returns the bytes of the file `path`, or nullptr if there is none: for checkers. Borrowed until the next call.
  const Bytes* contents(const std::string& path) const;

 private:
  struct File {
    std::string path;
    OpenMode mode;
    std::shared_ptr<Bytes> bytes;  // null for a directory
  };

  std::map<std::string, std::shared_ptr<Bytes>> names_;
  FileTable<File> files_;
};

}  // namespace tailrace::impl
