// OsFile: a file of the operating system, for the storage back ends that use such files. It can open, close, reserve,
// rename and remove files.
//
// A file has a descriptor that uses the page cache. Where the file system allows it, a second one that bypasses the
// page cache (O_DIRECT) is opened on first use: small files never need it. Not thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "base/status.hpp"

namespace tailrace::impl {

class OsFile {
 public:
  enum class Mode { create, fresh, own, own_read, own_or_new, edit, update, view, read, directory };

  // Opens `path`. With `want_direct` the file may also be used past the page cache, if that works. `create` replaces
  // any file there by an empty one, with mode 0666 less the umask. `edit` opens an existing file for reading and
  // writing. `update` does too, or creates an empty file. `view` opens an existing file for reading. These four take
  // regular files only, and refuse a symbolic link at the end, and in each component behind the directory `root`,
  // with which the path begins, if it is not empty. `read` opens regular files, also through links. `fresh`, `own`,
  // `own_read` and `own_or_new` create and open as make_own_file and open_own_file do.
  static Result<OsFile> open(const std::string& path, Mode mode, bool want_direct, const std::string& root = {});

  OsFile(OsFile&& other) noexcept;
  OsFile& operator=(OsFile&& other) noexcept;
  ~OsFile();

  int buffered() const { return buffered_; }
  // Opens the descriptor on first use. Returns -1 where the page cache cannot be bypassed, and while the process has
  // too many open files.
  int direct() const;

  // Reserves the range and makes the file at least that long. Does nothing and succeeds where the file system lacks
  // this operation.
  Status allocate(uint64_t offset, uint64_t length);
  // Makes the system begin to write the range from its page cache to the device. A hint, so it reports no failure.
  void write_behind(uint64_t offset, uint64_t length);
  // Returns the length in bytes.
  Result<uint64_t> size() const;
  // Reads through the page cache. Returns the number of bytes, which is less than requested only at the end of the
  // file.
  Result<size_t> read(uint64_t offset, std::span<std::byte> to) const;
  // Writes all of `from` through the page cache.
  Status write(uint64_t offset, std::span<const std::byte> from);
  // Makes the bytes of the file, or the names in a directory, durable.
  Status sync();
  // Truncates or extends the file to `size` bytes.
  Status truncate(uint64_t size);
  // Renames the file as rename_open_file does.
  Status rename(const std::string& to, bool replace);

 private:
  OsFile(std::string path, int buffered, bool want_direct, bool writable);
  int open_directly() const;
  void close();

  std::string path_;
  int buffered_ = -1;
  bool writable_ = false;
  mutable bool wants_direct_ = false;  // direct I/O is wanted, and its descriptor is not open yet
  mutable int direct_ = -1;
};

Status remove_file(const std::string& path);

}  // namespace tailrace::impl
