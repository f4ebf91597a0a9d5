// OpenFiles: the files of the process whose writes are carried, by the MPI's handles. Any thread may call.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "mpiio/files/open_file.hpp"

namespace tailrace::mpiio {

class OpenFiles {
 public:
  // Never destroyed: MPI closes files very late.
  static OpenFiles& instance() {
    static OpenFiles* const only = new OpenFiles;
    return *only;
  }

  void add(MPI_File handle, std::unique_ptr<OpenFile> file) {
    const std::lock_guard lock(mutex_);
    files_[handle] = std::move(file);
  }
  // Returns the file, or null if it is not carried. It stays until remove().
  OpenFile* find(MPI_File handle) {
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(handle);
    return found != files_.end() ? found->second.get() : nullptr;
  }
  void remove(MPI_File handle) {
    std::unique_ptr<OpenFile> file;  // its end calls MPI
    const std::lock_guard lock(mutex_);
    const auto found = files_.find(handle);
    if (found == files_.end()) return;
    file = std::move(found->second);
    files_.erase(found);
  }

 private:
  std::mutex mutex_;
  std::map<MPI_File, std::unique_ptr<OpenFile>> files_;  // guarded by mutex_
};

}  // namespace tailrace::mpiio
