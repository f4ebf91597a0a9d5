// FileMutex: a mutex in a file, for the processes of one node. Waiting has a limit and does not poll; if a holder
// dies, the next process gets the mutex when the holder has ended and its files are closed.
//
// It is the C library's robust, process-shared mutex, in memory that all of them map. A lock of the file itself
// (lock_file.hpp) cannot be waited for with a limit. The mutex is advisory, among programs of one user: a process
// that can write the file can break it.
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
  // Unlocks at its end. It ends on the thread that locked, before the FileMutex does.
  using Held = std::unique_ptr<pthread_mutex_t, Unlock>;

  // Creates the file if there is none. The file system must support O_TMPFILE, as all those suited to shared memory
  // do.
  static Result<FileMutex> open(const PrivateDirectory& directory, const std::string& name);
  // Opens an existing file. Fails with ENOENT if there is none.
  static Result<FileMutex> open_existing(const PrivateDirectory& directory, const std::string& name);

  // Locks the mutex. Fails with TAILRACE_TIMEOUT at the deadline.
  Result<Held> lock(const Deadline& deadline);
  // Returns true if the opened file has been removed: another process may then hold a new mutex of the same name.
  bool is_removed() const;
  // Removes the file; only the holder may call this. Waiting processes get the lock, and then find the file removed.
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
