// FileSystem: names and whole files, as every back end has them. One half of the storage port; transfers are the
// other (storage.hpp).
//
// Each call is done when it returns, on the calling thread: what is short, or what nobody computes beside. All calls
// of one FileSystem come from one thread. Statuses have the errno of the system call that would have failed so.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "model/stripe_map.hpp"

namespace tailrace::impl {

// A file opened by the back end; small numbers, used again after close.
using FileHandle = uint32_t;

// An open file, and which of its parts lies on which data server.
struct Opened {
  FileHandle file = 0;
  StripeMap stripes = {};
};

enum class OpenMode {
  create,    // a new empty file, replacing what is there; read and write
  fresh,     // the same under a name of tailrace's own: never through a link, nor into a file that is there already
  own,       // an existing file of this user under such a name, as it is; read and write
  own_read,  // the same, to read
  edit,      // an existing file, as it is; read and write
  update,    // the same, or a new empty one if there is none; never through a symbolic link
  read,      // an existing file; nothing else, so that opening a pipe to which nobody writes does not wait
  directory  // an existing directory, to sync it
};

// Facts about a name. A symbolic link is not followed, and is neither a file nor a directory.
struct NameFacts {
  enum class Kind : uint8_t { file, directory, other };
  Kind kind = Kind::file;
  uint64_t size = 0;    // bytes, of a file
  bool own = false;     // a regular file of this user, see base/os/own_file.hpp
  uint64_t volume = 0;  // two names with equal volume and number …
  uint64_t number = 0;  // … lead to one file

  bool is_same_file(const NameFacts& other) const { return volume == other.volume && number == other.number; }
};

// A lock on a name, given up when this ends, or when its process does.
class NameLock {
 public:
  virtual ~NameLock() = default;
  // Returns false where the file system has no locks: nobody is excluded.
  virtual bool held() const = 0;
  // Leaves the file of the lock where it is when this ends: it may be somebody else's.
  virtual void leave_file() = 0;
};

class FileSystem {
 public:
  virtual ~FileSystem() = default;

  // ---- open files; no transfer of a file is under way when it is closed, truncated or renamed ----

  // `device` says on which of the configured devices the file lies, from 0. Where the file system does not report a
  // stripe map, the device is the file's one data server.
  virtual Result<Opened> open(const std::string& path, OpenMode mode, uint32_t device) = 0;
  virtual void close(FileHandle file) = 0;
  // Returns true if direct transfers on this file are possible (some file systems refuse). May open the file once
  // more for them, so it is asked when there is something to transfer directly.
  virtual bool direct(FileHandle file) const = 0;
  // Returns the length in bytes.
  virtual Result<uint64_t> size(FileHandle file) const = 0;
  // Reads into `to` from `offset` on. Returns how many bytes: fewer than to.size() only at the end of the file.
  virtual Result<size_t> read(FileHandle file, uint64_t offset, std::span<std::byte> to) const = 0;
  // Makes the bytes of a file, or the names in a directory, durable.
  virtual Status sync(FileHandle file) = 0;
  // Reserves the range, so that writing it cannot fail for want of space later, and makes the file at least that
  // long. Where the file system cannot, does nothing and succeeds.
  virtual Status allocate(FileHandle file, uint64_t offset, uint64_t length) = 0;
  // Cuts the file to `size` bytes, or makes it that long; new bytes are zero.
  virtual Status truncate(FileHandle file, uint64_t size) = 0;
  // Gives the file, which stays open, the name `to` in its directory at once: no reader sees it half. Before that,
  // what the system still holds of its bytes goes to where other nodes see it. Fails with EEXIST, and leaves both
  // files as they are, if there is something of that name and not `replace`.
  virtual Status rename(FileHandle file, const std::string& to, bool replace) = 0;

  // ---- names ----

  // Fails with ENOENT if there is nothing of that name.
  virtual Result<NameFacts> stat(const std::string& path) const = 0;
  // Returns the names in a directory, sorted, without "." and "..".
  virtual Result<std::vector<std::string>> list(const std::string& directory) const = 0;
  // Makes a directory, and those above it that are missing. Succeeds if it is there, and can be written into.
  virtual Status make_directory(const std::string& path) = 0;
  virtual Status remove(const std::string& path) = 0;
  // Returns ok if `relative`, which has no "." and no "..", leads from the directory `root` through directories
  // alone, and no symbolic links, to a regular file, or to nothing in a directory that is there.
  virtual Status check_below(const std::string& root, const std::string& relative) const = 0;
  // Takes the lock that the file `path`, made if need be, stands for. Fails with TAILRACE_CLIENT_IN_USE if somebody
  // has it. `holder`, a line of at most 255 bytes, is what others are told of who has it.
  virtual Result<std::unique_ptr<NameLock>> lock(const std::string& path, const std::string& holder) = 0;
  // Returns true if somebody has the lock. Takes nothing, and leaves the file as it is.
  virtual bool is_locked(const std::string& path) const = 0;
};

}  // namespace tailrace::impl
