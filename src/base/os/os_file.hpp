// Files of the operating system, for the storage back ends that use them: open, close, reserve, rename, remove.
//
// A file has a descriptor that goes through the page cache and, from when it is first needed, where the file system
// allows it, one that bypasses it (O_DIRECT): small files never need that. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/status.hpp"

namespace tailrace::impl {

class OsFile {
 public:
  enum class Mode { create, fresh, own, own_read, edit, update, read, directory };

  // Opens `path`; with `want_direct` it may be used past the page cache, too, if that works. Mode `create` replaces
  // what is there with an empty file, 0666 less the umask; `edit` opens what is there for reading and writing,
  // `update` too, or makes an empty file if there is nothing; what `update` opens is no symbolic link. `read` opens
  // regular files alone. `fresh`, `own` and `own_read` make and open as make_own_file and open_own_file do.
  static Result<OsFile> open(const std::string& path, Mode mode, bool want_direct);

  OsFile(OsFile&& other) noexcept;
  OsFile& operator=(OsFile&& other) noexcept;
  ~OsFile();

  int buffered() const { return buffered_; }
  // Opened when it is first asked for. -1 where the page cache cannot be bypassed, and while the process has too many
  // files open for it.
  int direct() const;

  // Reserves the range and makes the file at least that long. Succeeds, doing nothing, where the file system has no
  // such operation.
  Status allocate(uint64_t offset, uint64_t length);
  // Returns the length in bytes.
  Result<uint64_t> size() const;
  // Reads through the page cache. Returns how many bytes: fewer than there is room for at the end of the file only.
  Result<size_t> read(uint64_t offset, std::span<std::byte> to) const;
  // Makes everything durable: the bytes, or the names of a directory.
  Status sync();
  // Cuts the file to `size` bytes, or makes it that long.
  Status truncate(uint64_t size);
  // As rename_open_file does.
  Status rename(const std::string& to, bool replace);

 private:
  OsFile(std::string path, int buffered, bool want_direct, bool writable);
  int open_directly() const;
  void close();

  std::string path_;
  int buffered_ = -1;
  bool writable_ = false;
  mutable bool wants_direct_ = false;  // it may be bypassed, and the descriptor has yet to be opened
  mutable int direct_ = -1;
};

Status remove_file(const std::string& path);

}  // namespace tailrace::impl
