// PrivateDirectory: an open directory that only this user may enter, and access to its files by name.
//
// All operations use the open descriptor, so that no process can substitute another directory, and follow no symbolic
// link. The caller knows which files there are and what they are for.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/os/file_descriptor.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

class PrivateDirectory {
 public:
  enum class Missing { create, refuse };

  // Opens a directory of this user with mode 0700; refuses anything else, also a symbolic link to one. Creates only
  // the last component.
  static Result<PrivateDirectory> open(const std::string& path, Missing missing);
  // Opens the directory `name` in this one.
  Result<PrivateDirectory> open_directory(const std::string& name, Missing missing) const;

  // Opens a file with `flags` of open(2), O_NOFOLLOW and O_CLOEXEC. A created file gets mode 0600.
  Result<FileDescriptor> open_file(const std::string& name, int flags) const;
  // Removes a file. Succeeds if there is none.
  Status remove_file(const std::string& name) const;
  // Removes a directory if it is empty; returns false, and does nothing, if it is not.
  Result<bool> remove_directory(const std::string& name) const;
  // Returns all names in the directory, sorted.
  Result<std::vector<std::string>> names() const;

  // Returns true if the path still leads to this directory: another process may have removed it.
  bool still_there() const;
  // Returns how many bytes this user can still allocate in the file system; the largest number if there is no limit.
  Result<uint64_t> free_bytes() const;

  const std::string& path() const { return path_; }
  std::string path_of(const std::string& name) const { return path_ + "/" + name; }
  // Returns a file's path by way of the descriptor, for calls that take only paths. Always short.
  std::string short_path_of(const std::string& name) const;
  int fd() const { return directory_.get(); }

 private:
  PrivateDirectory(std::string path, FileDescriptor directory)
      : path_(std::move(path)), directory_(std::move(directory)) {}
  static Result<PrivateDirectory> open_at(int parent, const std::string& name, std::string path, Missing missing);

  std::string path_;
  FileDescriptor directory_;
};

}  // namespace tailrace::impl
