#include "base/os/path_below.hpp"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/os/file_descriptor.hpp"

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

}  // namespace

Status check_below(const std::string& root, const std::string& relative) {
  FileDescriptor at = look_into(AT_FDCWD, root, 0);
  if (!at.is_open()) return Status::of_errno("open the directory", root, errno);
  for (size_t begin = 0;;) {
    const size_t slash = relative.find('/', begin);
    const bool last = slash == std::string::npos;
    const std::string name = relative.substr(begin, last ? slash : slash - begin);
    const std::string path = (root == "/" ? "" : root) + "/" + relative.substr(0, slash);
    struct stat info {};
    if (::fstatat(at.get(), name.c_str(), &info, AT_SYMLINK_NOFOLLOW) != 0) {
      if (last && errno == ENOENT) return {};
      return Status::of_errno("open", path, errno);
    }
    if (S_ISLNK(info.st_mode)) {
      return refuse(path, "a symbolic link; expected none below the output directory, which no path may leave");
    }
    if (last) return S_ISREG(info.st_mode) ? Status() : refuse(path, "no regular file");
    at = look_into(at.get(), name, O_NOFOLLOW);
    if (!at.is_open()) return Status::of_errno("open", path, errno);
    begin = slash + 1;
  }
}

}  // namespace tailrace::impl
