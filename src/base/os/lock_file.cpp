#include "base/os/lock_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/os/own_file.hpp"

namespace tailrace::impl {
namespace {

// Returns true if `path` still names the file that is open as `fd`: its last holder may have removed it in between.
bool same_file(const std::string& path, int fd) {
  struct stat by_path {};
  struct stat by_fd {};
  return lstat(path.c_str(), &by_path) == 0 && fstat(fd, &by_fd) == 0 && by_path.st_ino == by_fd.st_ino &&
         by_path.st_dev == by_fd.st_dev;
}

struct flock whole_file() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  return lock;
}

constexpr int kHolderAttempts = 100;  // against holders that come and go
constexpr size_t kMostHolder = 255;

// Writes a line over that of an earlier holder, in one step: nodes that share files find by it who may still write,
// and may look at any moment. If it cannot be written, the lock still holds.
void note_holder(int fd, const std::string& holder) {
  std::string line = holder.substr(0, kMostHolder);
  std::replace(line.begin(), line.end(), '\n', '?');
  line += '\n';
  [[maybe_unused]] const ssize_t written = pwrite(fd, line.data(), line.size(), 0);
}

// The holder may not have written its name yet, and the contents are not trusted to be text.
std::string noted_holder(int fd) {
  char text[kMostHolder];
  const ssize_t length = pread(fd, text, sizeof text, 0);
  std::string holder(text, length > 0 ? static_cast<size_t>(length) : 0);
  holder = holder.substr(0, holder.find('\n'));
  std::replace_if(
      holder.begin(), holder.end(), [](char c) { return c < ' ' || c > '~'; }, '?');
  return holder.empty() ? "somebody" : holder;
}

}  // namespace

Result<LockFile> LockFile::acquire(const std::string& path, const std::string& holder) {
  for (int attempt = 0; attempt < kHolderAttempts; ++attempt) {
    Result<FileDescriptor> file = open_own_file(path, O_RDWR | O_CREAT, 0600);
    if (!file.ok()) return file.status();
    const int fd = file.value().release();
    struct flock lock = whole_file();
    const bool locked = fcntl(fd, F_OFD_SETLK, &lock) == 0;
    const int error = errno;
    if (locked && same_file(path, fd)) {
      note_holder(fd, holder);
      return LockFile(path, fd, true);
    }
    if (!locked && (error == ENOSYS || error == ENOTSUP || error == ENOLCK || error == EINVAL))
      return LockFile(path, fd, false);
    const bool taken = !locked && (error == EAGAIN || error == EACCES);
    const std::string by = taken ? noted_holder(fd) : "";
    ::close(fd);
    if (taken) {
      Fault fault;
      fault.code = TAILRACE_CLIENT_IN_USE;
      fault.operation = "open";
      fault.file = path;
      fault.message = fmt::format("these files are open already: '{}' is locked by {}", path, by);
      return Status(std::move(fault));
    }
    if (!locked && error != EINTR) return Status::of_errno("lock", path, error);
  }
  return Status(TAILRACE_CLIENT_IN_USE, fmt::format("other processes keep taking and releasing '{}'", path));
}

bool LockFile::is_held(const std::string& path) {
  const int fd = ::open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return false;
  struct flock lock = whole_file();
  const bool held = fcntl(fd, F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
  ::close(fd);
  return held;
}

LockFile::LockFile(LockFile&& other) noexcept
    : path_(std::move(other.path_)),
      fd_(std::exchange(other.fd_, -1)),
      held_(other.held_),
      not_for_children_(std::move(other.not_for_children_)) {}

LockFile::~LockFile() {
  if (fd_ < 0) return;
  if (!path_.empty())
    ::unlink(path_.c_str());  // before the lock is released, so that no process locks a file that is about to go
  not_for_children_ = {};     // before the descriptor's number can be reused
  ::close(fd_);
}

}  // namespace tailrace::impl
