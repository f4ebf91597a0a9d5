// FileOperation: an operation on a whole file or on names that is submitted to a storage and reaped, as transfers
// are.
//
// FileSystem has the same operations as calls that return when they are complete.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "storage/file_system.hpp"

namespace tailrace::impl {

struct FileOperation {
  enum class Kind : uint8_t {
    open,      // open `path`, as FileSystem::open does
    allocate,  // reserve `size` bytes from `offset` on, as FileSystem::allocate does
    reserve,   // the same, for writes that follow; or nothing, where that gains nothing
    behind,    // see FileSystem::write_behind, for `size` bytes from `offset` on
    size,      // find the length of the file
    direct,    // open the file for direct transfers, too, if they are possible, as FileSystem::direct does
    close,
    truncate,  // truncate or extend the file to `size` bytes
    rename,    // rename the file to `path`
    publish,   // rename the file to `path`, and close it, also if the rename fails
    remove,    // close the file, and remove `path`, by which it was opened
    stat,      // find the facts of `path`, as FileSystem::stat does
    unlink,    // remove `path`
    call       // call `call` with the file system. For calls that have no kind of their own
  };
  Kind kind = Kind::close;
  // No transfer and no other operation of it is in progress; of a `size`, an `allocate`, a `reserve` and a `behind`:
  // no close; of a `direct`: no close and no direct transfer.
  FileHandle file = 0;
  uint64_t offset = 0;  // bytes
  uint64_t size = 0;    // bytes
  std::string path = {};
  // Not empty, of an open, a stat and an unlink: `path`, which begins with it, must lead below this directory, as
  // FileSystem::check_below says.
  std::string root = {};
  OpenMode mode = OpenMode::fresh;
  uint32_t device = 0;
  bool replace = true;  // of a rename and a publish, see FileSystem::rename
  std::function<void(FileSystem&)> call = {};
  uint64_t tag = 0;  // returned with the end
};

struct FileOperationEnd {
  uint64_t tag = 0;
  Status status = {};
  Opened opened = {};                  // by an `open` that succeeded
  NameFacts facts = {};                // found by a `stat` that succeeded
  uint64_t size = 0;                   // bytes, found by a `size` that succeeded
  std::optional<bool> direct = false;  // found by a `direct`: such transfers are possible; none: not at the moment
};

// Returns `path` as it is below the directory `root`, with which it begins.
std::string path_below(const std::string& root, const std::string& path);
// Returns ok if `root` is empty, or `path` leads below it.
Status check_root(const FileSystem& files, const std::string& root, const std::string& path);

// Carries the operation out by calls, and returns when it has ended.
FileOperationEnd carry_out(FileSystem& files, const FileOperation& operation);

}  // namespace tailrace::impl
