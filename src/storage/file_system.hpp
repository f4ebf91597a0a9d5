// FileSystem: names and whole files, for every back end. One half of the storage port; transfers are the other
// (storage.hpp).
//
// Each call finishes before it returns, on the calling thread: the calls are short, or nothing computes beside them.
// Where storage/threads is used, calls come from several threads: one at a time on each open file, beside allocate(),
// write_behind() and scatter().
// A Status has the errno of the system call that failed, or would have.
#pragma once

#include <sys/uio.h>

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "model/stored_file.hpp"

namespace tailrace::impl {

// A file that the back end has open; small numbers, reused after close.
using FileHandle = uint32_t;

// An open file, its stripe map, and which file it is.
struct Opened {
  FileHandle file = 0;
  StripeMap stripes = {};
  FileIdentity identity = {};
  bool is_empty = false;  // it had no bytes; false: perhaps it had some
};

// A raw file is opened through no symbolic link below the directory of raw files that it is in, and only if it is
// regular.
enum class OpenMode {
  create,      // a raw file, emptied if it exists; read and write
  fresh,       // a new file under a name of tailrace's own: never through a link, nor into an existing file
  own,         // an existing file of this user under such a name, unchanged; read and write
  own_read,    // the same, read only
  edit,        // an existing raw file, unchanged; read and write
  update,      // like edit, or a new empty file if there is none
  read,        // an existing regular file, so that opening a pipe without a writer does not wait
  directory,   // an existing directory, for sync
  own_or_new,  // like own, or a new empty file if there is none: several nodes may open it at once
  view         // an existing raw file, read only
};

// Facts about a name. Symbolic links are not followed and count as neither file nor directory.
struct NameFacts {
  enum class Kind : uint8_t { file, directory, other };
  Kind kind = Kind::file;
  uint64_t size = 0;           // bytes, of a file
  bool own = false;            // a regular file of this user, see base/os/own_file.hpp
  FileIdentity identity = {};  // of the file that the name leads to
  bool reserved = false;       // a leftover that counts as no file for rename(), see base/os/own_file.hpp

  bool is_same_file(const NameFacts& other) const { return identity == other.identity; }
};

// A lock on a name, released when this object or its process ends.
class NameLock {
 public:
  virtual ~NameLock() = default;
  // Returns false if the file system has no locks, so that no process is excluded.
  virtual bool held() const = 0;
  // Leaves the lock's file in place when this object ends: it may belong to another process.
  virtual void leave_file() = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // ---- open files; no transfer of a file is in progress while it is closed, truncated or renamed ----

  // Opens a file that lies on the configured device number `device`, from 0. If the file system reports no stripe
  // map, the device counts as the file's one data server.
  virtual Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device) = 0;
  virtual void close(FileHandle file) = 0;
  // Returns true if direct transfers on this file are possible (some file systems refuse them). May open the file
  // once more for them, so call it only when there is something to transfer directly. Buffered transfers may be in
  // progress. If the process has too many files open for that now, returns false, and errno is EMFILE or ENFILE.
  virtual bool direct(FileHandle file) const = 0;
  // Returns the length in bytes.
  virtual Result<uint64_t> size(FileHandle file) const = 0;
  // Reads into `to` from `offset` on. Returns the number of bytes, less than to.size() only at the end of the file.
  virtual Result<size_t> read(FileHandle file, uint64_t offset, std::span<std::byte> to) const = 0;
  // Writes all of `from` at `offset`. Only for the heads of striped files: transfers write the rest.
  virtual Status write(FileHandle, uint64_t, std::span<const std::byte>) {
    return Status::of_errno("write", "a file", ENOTSUP);
  }
  // Carries out a write as a Transfer with `scattered` describes it. Returns the number of bytes from `offset` on,
  // holes included, up to the first one that could not be written, or -errno if that is the first one of all.
  virtual int64_t scatter(FileHandle, uint64_t /*offset*/, std::span<const iovec>) { return -ENOTSUP; }
  // Makes the bytes of a file, or the names in a directory, durable.
  virtual Status sync(FileHandle file) = 0;
  // Reserves the range, so that writing it cannot fail later for lack of space, and makes the file at least that
  // long. Does nothing and succeeds if the file system lacks this operation.
  virtual Status allocate(FileHandle file, uint64_t offset, uint64_t length) = 0;
  // Makes the system begin to write the range to the device, as far as it is in the page cache and not there yet. The
  // cache keeps it. May wait for the device's queue, not for the bytes. A hint: it cannot fail.
  virtual void write_behind(FileHandle, uint64_t /*offset*/, uint64_t /*length*/) {}
  // Truncates or extends the file to `size` bytes; new bytes are zero.
  virtual Status truncate(FileHandle file, uint64_t size) = 0;
  // Renames the open file to `to`, in the same directory, atomically for readers. Before that, makes its bytes
  // visible to other nodes. Fails with EEXIST, and changes neither file, if `to` exists and `replace` is false.
  virtual Status rename(FileHandle file, const std::string& to, bool replace) = 0;

  // ---- names ----

  // Fails with ENOENT if there is nothing of that name.
  virtual Result<NameFacts> stat(const std::string& path) const = 0;
  // Returns the names in a directory, sorted, without "." and "..".
  virtual Result<std::vector<std::string>> list(const std::string& directory) const = 0;
  // Makes a directory and its missing parents. Succeeds if it exists and is writable.
  virtual Status make_directory(const std::string& path) = 0;
  virtual Status remove(const std::string& path) = 0;
  // Returns ok if `relative`, which contains no "." and no "..", leads from the directory `root`, through directories
  // only and no symbolic links, to a regular file, or to no file in an existing directory.
  virtual Status check_below(const std::string& root, const std::string& relative) const = 0;
  // Removes the name to which `relative` leads in the same way.
  virtual Status remove_below(const std::string& root, const std::string& relative) {
    if (Status status = check_below(root, relative); !status.ok()) return status;
    return remove(root.ends_with('/') ? root + relative : root + "/" + relative);
  }
  // Takes the lock that the file `path` stands for, and creates the file if necessary. Fails with
  // TAILRACE_CLIENT_IN_USE if a process holds it. `holder`, a line of at most 255 bytes, is shown to others as the
  // lock's holder.
  virtual Result<std::unique_ptr<NameLock>> lock(const std::string& path, const std::string& holder) = 0;
  // Returns true if any process holds the lock. Takes no lock, and does not change the file.
  virtual bool is_locked(const std::string& path) const = 0;
};

}  // namespace tailrace::impl
