// FileTable: the open files of a back end, by handle. Handles are small numbers, reused after close.
//
// The back ends of this layer share it. It owns the files, and does not depend on their type. Not thread-safe: it
// belongs to the engine's thread, like all calls of the port.
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

template <class File>
class FileTable {
 public:
  FileHandle put(File file) {
    if (free_.empty()) {
      files_.emplace_back(std::move(file));
      return static_cast<FileHandle>(files_.size() - 1);
    }
    const FileHandle handle = free_.back();
    free_.pop_back();
    files_[handle].emplace(std::move(file));
    return handle;
  }

  // Requires that `handle` is open, like the next two.
  File& at(FileHandle handle) {
    TAILRACE_REQUIRE(handle < files_.size());
    TAILRACE_REQUIRE(files_[handle].has_value());
    return *files_[handle];
  }
  const File& at(FileHandle handle) const { return const_cast<FileTable*>(this)->at(handle); }

  void erase(FileHandle handle) {
    at(handle);
    files_[handle].reset();
    free_.push_back(handle);
  }

 private:
  std::vector<std::optional<File>> files_;
  std::vector<FileHandle> free_;
};

}  // namespace tailrace::impl
