// LockFile: marks a client as open, visibly to other processes and to recovery. The mark ends with its holder,
// however the holder ends.
//
// It is an advisory lock (fcntl, of the open file description) on a file of its own, whose first line is the holder's
// name. Releasing the lock removes the file; a file that is left unlocked belongs to a process that died. Others may
// create files beside it, so it is opened as base/os/own_file.hpp says. Children that the holder forks do not share
// the lock.
#pragma once

#include <string>

#include "base/os/closed_in_children.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

class LockFile {
 public:
  // Takes the lock. Fails with TAILRACE_CLIENT_IN_USE if this or another process holds it. On file systems without
  // locks this creates the file but excludes no process, and held() returns false. `holder`, a line of at most 255
  // bytes, is shown to others as the lock's holder.
  static Result<LockFile> acquire(const std::string& path, const std::string& holder = "");

  // Returns true if any process holds the lock. Takes no lock, and does not change the file if there is one.
  static bool is_held(const std::string& path);

  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&&) = delete;
  ~LockFile();

  bool held() const { return held_; }
  // Leaves the file in place when this object ends: it may belong to another process.
  void leave_file() { path_.clear(); }

 private:
  LockFile(std::string path, int fd, bool held)
      : path_(std::move(path)), fd_(fd), held_(held), not_for_children_(fd) {}

  std::string path_;
  int fd_;
  bool held_;
  ClosedInChildren not_for_children_;  // fd_
};

}  // namespace tailrace::impl
