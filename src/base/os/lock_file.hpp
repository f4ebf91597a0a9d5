// LockFile: "this client is open", visible to other processes and to recovery; gone with its holder, however that
// ends.
//
// An advisory lock (fcntl, of the open file description) on a file of its own, in which its holder is named. The file
// is removed on release; one that is left and not locked is of a process that died. Others may make files beside it:
// it is opened as base/os/own_file.hpp says. Children that the holder forks do not share it.
#pragma once

#include <string>

#include "base/os/closed_in_children.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

class LockFile {
 public:
  // TAILRACE_CLIENT_IN_USE if somebody, here or in another process, holds it. On file systems without locks the file
  // is made, and nothing is excluded: held() tells. `holder`, a line of at most 255 bytes, is what others are told of
  // who has it.
  static Result<LockFile> acquire(const std::string& path, const std::string& holder = "");

  // Returns true if somebody holds the lock. Takes nothing, and leaves the file, if there is one, as it is.
  static bool is_held(const std::string& path);

  LockFile(LockFile&& other) noexcept;
  LockFile& operator=(LockFile&&) = delete;
  ~LockFile();

  bool held() const { return held_; }
  // Leaves the file where it is when this ends: it may be somebody else's.
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
