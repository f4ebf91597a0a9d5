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
    close,
    truncate,  // truncate or extend the file to `size` bytes
    publish,   // rename the file to `path`, and close it, also if the rename fails
    remove     // close the file, and remove `path`, by which it was opened
  };
  Kind kind = Kind::close;
  FileHandle file = 0;  // no transfer and no other operation of it is in progress
  uint64_t size = 0;
  std::string path = {};
  bool replace = true;  // of a publish, see FileSystem::rename
  uint64_t tag = 0;     // returned with the end
};

struct FileOperationEnd {
  uint64_t tag = 0;
  Status status;
};

// Carries the operation out by calls, and returns when it has ended.
Status carry_out(FileSystem& files, const FileOperation& operation);

}  // namespace tailrace::impl
