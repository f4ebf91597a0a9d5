// PrivateDirectory: an open directory that only this user may enter, and the files in it, by name.
//
// All goes through the open directory, so that nobody can put another one into its place, and no symbolic link is
// followed. What lies in it and what for is the user's of this to know.
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

  // Refuses what is not a directory of this user with mode 0700 (a symbolic link to one, too). Creates the last
  // component only.
  static Result<PrivateDirectory> open(const std::string& path, Missing missing);
  // The directory `name` in this one.
  Result<PrivateDirectory> open_directory(const std::string& name, Missing missing) const;

  // `flags` as of open(2), to which O_NOFOLLOW and O_CLOEXEC are added; what is made gets mode 0600.
  Result<FileDescriptor> open_file(const std::string& name, int flags) const;
  // Succeeds where there is none.
  Status remove_file(const std::string& name) const;
  // Only an empty one is removed; false, with nothing done, if it is not.
  Result<bool> remove_directory(const std::string& name) const;
  // The names of all there is, sorted.
  Result<std::vector<std::string>> names() const;

  // Returns true if the directory's path still leads to it: somebody may have removed it.
  bool still_there() const;
  // Bytes that the file system under it has left for this user; the largest number where it has no limit.
  Result<uint64_t> free_bytes() const;

  const std::string& path() const { return path_; }
  std::string path_of(const std::string& name) const { return path_ + "/" + name; }
  // A path of a file by way of the descriptor: for calls that take paths only. Never long.
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
