#include "base/os/path_below.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

namespace tailrace::impl {
namespace {

Status refuse(const std::string& path, const std::string& what) {
  Fault fault;
  fault.code = TAILRACE_INVALID_ARGUMENT;
  fault.operation = "open";
  fault.file = path;
  fault.message = "'" + path + "' is " + what;
  return Status(std::move(fault));
}

FileDescriptor look_into(int at, const std::string& name, int flags) {
  return FileDescriptor(::openat(at, name.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC | flags));
}

Status is_link(const std::string& path) {
  return refuse(path, "a symbolic link; expected none below the output directory, which no path may leave");
}

// The directory of a name, and the name in it.
struct Place {
  FileDescriptor directory;
  std::string name;
  std::string path;  // for messages
};

// Returns TAILRACE_INVALID_ARGUMENT if a component on the way is a symbolic link.
Result<Place> place_of(const std::string& root, const std::string& relative) {
  Place at{look_into(AT_FDCWD, root, 0), relative, (root == "/" ? "" : root) + "/" + relative};
  if (!at.directory.is_open()) return Status::of_errno("open the directory", root, errno);
  for (size_t slash = at.name.find('/'); slash != std::string::npos; slash = at.name.find('/')) {
    const std::string one = at.name.substr(0, slash);
    const std::string path = at.path.substr(0, at.path.size() - at.name.size() + slash);
    at.name.erase(0, slash + 1);
    FileDescriptor next = look_into(at.directory.get(), one, O_NOFOLLOW);
    const int error = errno;
    struct stat info {};
    if (next.is_open()) {
      at.directory = std::move(next);
    } else if (::fstatat(at.directory.get(), one.c_str(), &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISLNK(info.st_mode)) {
      return is_link(path);
    } else {
      return Status::of_errno("open", path, error);
    }
  }
  return at;
}

}  // namespace

Status check_below(const std::string& root, const std::string& relative) {
  const Result<Place> at = place_of(root, relative);
  if (!at.ok()) return at.status();
  struct stat info {};
  if (::fstatat(at.value().directory.get(), at.value().name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
    return errno == ENOENT ? Status() : Status::of_errno("open", at.value().path, errno);
  }
  if (S_ISLNK(info.st_mode)) return is_link(at.value().path);
  return S_ISREG(info.st_mode) ? Status() : refuse(at.value().path, "no regular file");
}

Result<FileDescriptor> open_below(const std::string& root, const std::string& relative, int flags) {
  const Result<Place> at = place_of(root, relative);
  if (!at.ok()) return at.status();
  int fd = -1;
  do {
    fd = ::openat(at.value().directory.get(), at.value().name.c_str(), flags | O_NOFOLLOW | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EINTR);
  if (fd >= 0) return FileDescriptor(fd);
  return errno == ELOOP ? is_link(at.value().path) : Status::of_errno("open", at.value().path, errno);
}

Status remove_below(const std::string& root, const std::string& relative) {
  const Result<Place> at = place_of(root, relative);
  if (!at.ok()) return at.status();
  if (::unlinkat(at.value().directory.get(), at.value().name.c_str(), 0) == 0) return {};
  return Status::of_errno("remove", at.value().path, errno);
}

}  // namespace tailrace::impl
