// OsFileSystem: the names and files of the operating system, for back ends, and for code that needs no transfers.
// Implements the port storage/file_system.hpp.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "storage/file_table.hpp"
#include "storage/os/open_file.hpp"
#include "storage/os/scattered_write.hpp"

namespace tailrace::impl {

class OsFileSystem : public FileSystem {
 public:
  // `want_direct`: files may also be used past the page cache, if the file system supports that. `roots`: the
  // directories of raw files, as paths begin with them: they may be reached through links, but what is below may not.
  explicit OsFileSystem(bool want_direct = false, std::vector<std::string> roots = {})
      : want_direct_(want_direct), roots_(std::move(roots)) {}

  Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device) override;
  void close(FileHandle file) override { files_.erase(file); }
  bool direct(FileHandle file) const override { return files_.at(file).os.direct() >= 0; }
  Result<uint64_t> size(FileHandle file) const override { return files_.at(file).os.size(); }
  Result<size_t> read(FileHandle file, uint64_t offset, std::span<std::byte> to) const override {
    return files_.at(file).os.read(offset, to);
  }
  Status write(FileHandle file, uint64_t offset, std::span<const std::byte> from) override {
    return files_.at(file).os.write(offset, from);
  }
  int64_t scatter(FileHandle file, uint64_t offset, std::span<const iovec> segments) override {
    return write_scattered(files_.at(file).os.buffered(), offset, segments);
  }
  Status sync(FileHandle file) override { return files_.at(file).os.sync(); }
  Status allocate(FileHandle file, uint64_t offset, uint64_t length) override {
    return files_.at(file).os.allocate(offset, length);
  }
  void write_behind(FileHandle file, uint64_t offset, uint64_t length) override {
    files_.at(file).os.write_behind(offset, length);
  }
  Status truncate(FileHandle file, uint64_t size) override { return files_.at(file).os.truncate(size); }
  Status rename(FileHandle file, const std::string& to, bool replace) override {
    return files_.at(file).os.rename(to, replace);
  }
  Result<NameFacts> stat(const std::string& path) const override;
  Result<std::vector<std::string>> list(const std::string& directory) const override;
  Status make_directory(const std::string& path) override;
  Status remove(const std::string& path) override { return remove_file(path); }
  Status check_below(const std::string& root, const std::string& relative) const override;
  Status remove_below(const std::string& root, const std::string& relative) override;
  Result<std::unique_ptr<NameLock>> lock(const std::string& path, const std::string& holder) override;
  bool is_locked(const std::string& path) const override;

  // Returns the open file itself, for the transfers of a back end.
  const OpenFile& at(FileHandle file) const { return files_.at(file); }

 private:
  std::string root_of(const std::string& path) const;

  const bool want_direct_;
  const std::vector<std::string> roots_;
  FileTable<OpenFile> files_;
};

}  // namespace tailrace::impl
