#include "base/os/private_directory.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <limits>
#include <memory>

namespace tailrace::impl {
namespace {

constexpr mode_t kPrivate = 0700;

const char* kind_of(mode_t mode) {
  if (S_ISLNK(mode)) return "a symbolic link";
  if (S_ISREG(mode)) return "a file";
  return "not a directory";
}

Status refuse(const std::string& path, const std::string& found, int error) {
  Fault fault;
  fault.code = TAILRACE_IO_ERROR;
  fault.operation = "open";
  fault.file = path;
  fault.system_errno = error;
  fault.message = fmt::format("'{}' is {}; expected a directory of user {} with mode 0700", path, found, geteuid());
  return Status(std::move(fault));
}

Status check_private(int fd, const std::string& path) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return Status::of_errno("stat", path, errno);
  if (info.st_uid != geteuid()) return refuse(path, fmt::format("a directory of user {}", info.st_uid), EPERM);
  const mode_t mode = info.st_mode & 07777;
  if ((mode & 0777) != kPrivate) return refuse(path, fmt::format("a directory with mode {:04o}", mode), EPERM);
  return {};
}

constexpr int kTries = 1000;  // attempts to open a directory that others keep removing

struct CloseDirectory {
  void operator()(DIR* stream) const { closedir(stream); }
};

}  // namespace

Result<PrivateDirectory> PrivateDirectory::open_at(int parent, const std::string& name, std::string path,
                                                   Missing missing) {
  FileDescriptor fd;
  int error = ENOENT;
  for (int tries = missing == Missing::create ? kTries : 1; tries > 0 && error == ENOENT; --tries) {
    if (missing == Missing::create && mkdirat(parent, name.c_str(), kPrivate) != 0 && errno != EEXIST)
      return Status::of_errno("make the directory", path, errno);
    fd = FileDescriptor(openat(parent, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    error = fd.is_open() ? 0 : errno;  // ENOENT: another process removed it between the two calls
  }
  if (!fd.is_open()) {
    struct stat info {};
    if ((error == ENOTDIR || error == ELOOP) && fstatat(parent, name.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0)
      return refuse(path, kind_of(info.st_mode), error);
    return Status::of_errno("open the directory", path, error);
  }
  if (const Status status = check_private(fd.get(), path); !status.ok()) return status;
  return PrivateDirectory(std::move(path), std::move(fd));
}

Result<PrivateDirectory> PrivateDirectory::open(const std::string& path, Missing missing) {
  return open_at(AT_FDCWD, path, path, missing);
}

Result<PrivateDirectory> PrivateDirectory::open_directory(const std::string& name, Missing missing) const {
  return open_at(fd(), name, path_of(name), missing);
}

Result<FileDescriptor> PrivateDirectory::open_file(const std::string& name, int flags) const {
  int file = -1;
  do {
    file = openat(fd(), name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0600);
  } while (file < 0 && errno == EINTR);
  if (file < 0) return Status::of_errno((flags & O_CREAT) != 0 ? "create" : "open", path_of(name), errno);
  return FileDescriptor(file);
}

Status PrivateDirectory::remove_file(const std::string& name) const {
  if (unlinkat(fd(), name.c_str(), 0) == 0 || errno == ENOENT) return {};
  return Status::of_errno("remove", path_of(name), errno);
}

Result<bool> PrivateDirectory::remove_directory(const std::string& name) const {
  if (unlinkat(fd(), name.c_str(), AT_REMOVEDIR) == 0 || errno == ENOENT) return true;
  if (errno == ENOTEMPTY || errno == EEXIST) return false;
  return Status::of_errno("remove the directory", path_of(name), errno);
}

Result<std::vector<std::string>> PrivateDirectory::names() const {
  FileDescriptor again(openat(fd(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));  // readdir moves the offset
  if (!again.is_open()) return Status::of_errno("open the directory", path_, errno);
  const std::unique_ptr<DIR, CloseDirectory> stream(fdopendir(again.get()));
  if (stream == nullptr) return Status::of_errno("list", path_, errno);
  (void)again.release();
  std::vector<std::string> names;
  errno = 0;
  while (const dirent* entry = readdir(stream.get())) {
    const std::string name = entry->d_name;
    if (name != "." && name != "..") names.push_back(name);
  }
  if (errno != 0) return Status::of_errno("list", path_, errno);
  std::sort(names.begin(), names.end());
  return names;
}

bool PrivateDirectory::still_there() const {
  struct stat by_path {};
  struct stat by_fd {};
  if (fstatat(AT_FDCWD, path_.c_str(), &by_path, AT_SYMLINK_NOFOLLOW) != 0 || fstat(fd(), &by_fd) != 0) return false;
  // While the directory is being removed, its path still leads to it for a moment, but no file can be created in it.
  const bool is_removed = by_fd.st_nlink == 0;
  return !is_removed && by_path.st_ino == by_fd.st_ino && by_path.st_dev == by_fd.st_dev;
}

Result<uint64_t> PrivateDirectory::free_bytes() const {
  struct statvfs info {};
  int result = 0;
  do {
    result = fstatvfs(fd(), &info);
  } while (result != 0 && errno == EINTR);
  if (result != 0) return Status::of_errno("ask for the free space of", path_, errno);
  if (info.f_blocks == 0) return std::numeric_limits<uint64_t>::max();  // a tmpfs of size 0, which means no limit
  return static_cast<uint64_t>(info.f_bavail) * info.f_frsize;
}

std::string PrivateDirectory::short_path_of(const std::string& name) const {
  return fmt::format("/proc/self/fd/{}/{}", fd(), name);
}

}  // namespace tailrace::impl
