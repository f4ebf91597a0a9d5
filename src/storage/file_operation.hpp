// FileOperation: an operation on a whole file that is submitted to a storage and reaped, as transfers are.
//
// FileSystem has the same operations as calls that return when they are complete.
#pragma once

#include <cstdint>
#include <string>

#include "storage/file_system.hpp"

namespace tailrace::impl {

struct FileOperation {
  enum class Kind : uint8_t {
    open,     // open `path`, as FileSystem::open does
    reserve,  // reserve `size` bytes from `offset` on for writes that follow, as FileSystem::allocate does, or do
              // nothing
    close,
    truncate,  // truncate or extend the file to `size` bytes
    publish,   // rename the file to `path`, and close it, also if the rename fails
    remove     // close the file, and remove `path`, by which it was opened
  };
  Kind kind = Kind::close;
  FileHandle file = 0;  // no transfer and no other operation of it is in progress; not of a `reserve`
  uint64_t offset = 0;  // bytes
  uint64_t size = 0;    // bytes
  std::string path = {};
  OpenMode mode = OpenMode::fresh;
  uint32_t device = 0;
  bool replace = true;  // of a publish, see FileSystem::rename
  uint64_t tag = 0;     // returned with the end
};

struct FileOperationEnd {
  uint64_t tag = 0;
  Status status = {};
  Opened opened = {};  // by an `open` that succeeded
};

// Carries the operation out by calls, and returns when it has ended.
FileOperationEnd carry_out(FileSystem& files, const FileOperation& operation);

}  // namespace tailrace::impl
