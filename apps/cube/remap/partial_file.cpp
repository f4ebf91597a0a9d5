#include "cube/remap/partial_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "cube/archive/error.hpp"

namespace tailrace::cube {
namespace {

constexpr int kAttempts = 100;  // against others that create it at the same time

void remove_leftover(const std::string& name) {
  struct stat found {};
  if (::lstat(name.c_str(), &found) == 0 && !(S_ISREG(found.st_mode) && found.st_uid == ::geteuid())) {
    throw Error(name + ": expected nothing, or a file that an earlier run has left, found " +
                (S_ISLNK(found.st_mode)   ? "a symbolic link"
                 : S_ISREG(found.st_mode) ? "a file of another user"
                                          : "no regular file"));
  }
  if (::unlink(name.c_str()) != 0 && errno != ENOENT) throw Error(name + ": remove: " + std::strerror(errno));
}

}  // namespace

std::string partial_name(const std::string& path) { return path + ".partial"; }

int create_partial(const std::string& path) {
  const std::string name = partial_name(path);
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    const int made = ::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, 0644);
    if (made >= 0) return made;
    if (errno != EEXIST) break;
    remove_leftover(name);
  }
  throw Error(name + ": open: " + std::strerror(errno));
}

}  // namespace tailrace::cube
