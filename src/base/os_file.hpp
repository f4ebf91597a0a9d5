// Files of the operating system, for the storage back ends that use them: open, close, reserve, rename, remove.
//
// A file has two descriptors: one that goes through the page cache and, where the file system allows it, one that
// bypasses it (O_DIRECT). Not thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "base/status.hpp"

namespace tailrace::impl {

class OsFile {
 public:
  enum class Mode { create, edit, update, read, directory };

  // Opens `path`; with `want_direct` also without the page cache, if that works. Mode `create` replaces what is
  // there with an empty file, 0666 less the umask; `edit` opens what is there for reading and writing, `update` too,
  // or makes an empty file if there is nothing; what `update` opens is no symbolic link.
  static Result<OsFile> open(const std::string& path, Mode mode, bool want_direct);

  OsFile(OsFile&& other) noexcept;
  OsFile& operator=(OsFile&& other) noexcept;
  ~OsFile();

  int buffered() const { return buffered_; }
  // -1 where the page cache cannot be bypassed.
  int direct() const { return direct_; }

  // Reserves the range and makes the file at least that long. Succeeds, doing nothing, where the file system has no
  // such operation.
  Status allocate(uint64_t offset, uint64_t length);

 private:
  OsFile(std::string path, int buffered, int direct);
  void close();

  std::string path_;
  int buffered_ = -1;
  int direct_ = -1;
};

Status rename_file(const std::string& from, const std::string& to);
Status remove_file(const std::string& path);

}  // namespace tailrace::impl
