// FileMutex: a mutex in a file, for the processes of one node: waiting has a limit and does not poll, and a holder's
// death passes it on.
//
// It is the C library's robust, process-shared mutex in memory that all map. A lock of the file itself
// (lock_file.hpp) cannot be waited for with a limit. It is advice among programs of one user: who can write the file
// can break it.
#pragma once

#include <pthread.h>

#include <memory>
#include <string>

#include "base/deadline.hpp"
#include "base/os/private_directory.hpp"

namespace tailrace::impl {

class FileMutex {
 public:
  struct Unlock {
    void operator()(pthread_mutex_t* mutex) const;
  };
  // Unlocks at its end, on the thread that locked and before the FileMutex ends.
  using Held = std::unique_ptr<pthread_mutex_t, Unlock>;

  // Makes the file if there is none. The file system has to know O_TMPFILE, as all that suit shared memory do.
  static Result<FileMutex> open(const PrivateDirectory& directory, const std::string& name);
  // Fails with ENOENT if there is none.
  static Result<FileMutex> open_existing(const PrivateDirectory& directory, const std::string& name);

  // TAILRACE_TIMEOUT at the deadline.
  Result<Held> lock(const Deadline& deadline);
  // Returns true if the file that was opened has been removed: then somebody else may hold a mutex of the same name.
  bool is_removed() const;
  // The holder: removes the file. Those who wait get the lock, and see that it is of no use any more.
  void remove();

 private:
  struct Unmap {
    void operator()(void* memory) const;
  };
  FileMutex(std::string path, FileDescriptor file, void* memory)
      : path_(std::move(path)), file_(std::move(file)), memory_(memory) {}

  pthread_mutex_t* mutex() const;

  std::string path_;
  FileDescriptor file_;
  std::unique_ptr<void, Unmap> memory_;
};

}  // namespace tailrace::impl
