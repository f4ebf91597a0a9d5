// FileTable: the open files of a back end, by handle. Handles are small numbers, reused after close.
//
// The back ends of this layer share it. It owns the files, and does not depend on their type. Any thread may call; a
// file itself is used by one thread at a time, and a reference to it is valid until it is erased.
#pragma once

#include <deque>
#include <optional>
#include <utility>
#include <vector>

#include "base/assert.hpp"
#include "base/mutex.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

template <class File>
class FileTable {
 public:
  FileHandle put(File file) {
    const MutexLock lock(mutex_);
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
    const MutexLock lock(mutex_);
    TAILRACE_REQUIRE(handle < files_.size());
    TAILRACE_REQUIRE(files_[handle].has_value());
    return *files_[handle];
  }
  const File& at(FileHandle handle) const { return const_cast<FileTable*>(this)->at(handle); }

  void erase(FileHandle handle) {
    std::optional<File> gone = std::move(at(handle));  // it ends without the lock, which may take long
    const MutexLock lock(mutex_);
    files_[handle].reset();
    free_.push_back(handle);
  }

 private:
  Mutex mutex_;
  std::deque<std::optional<File>> files_ TAILRACE_GUARDED_BY(mutex_);
  std::vector<FileHandle> free_ TAILRACE_GUARDED_BY(mutex_);
};

}  // namespace tailrace::impl
