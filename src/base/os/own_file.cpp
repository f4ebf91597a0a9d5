#include "base/os/own_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace tailrace::impl {
namespace {

constexpr int kMakingAttempts = 100;  // against others that create such a file at the same time

FileDescriptor open_by(const std::string& path, int flags, mode_t mode) {
  int fd = -1;
  do {
    fd = ::open(path.c_str(), flags | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return FileDescriptor(fd);
}

const char* kind_of(const struct stat& info) {
  if (S_ISLNK(info.st_mode)) return "a symbolic link";
  if (S_ISDIR(info.st_mode)) return "a directory";
  return S_ISREG(info.st_mode) ? "a file" : "no regular file";
}

// Returns the owner that the file system gives to files which this user creates beside `path`.
uid_t owner_of_new_files(const std::string& path) {
  const size_t slash = path.rfind('/');
  std::string probe = (slash == std::string::npos ? "" : path.substr(0, slash + 1)) + ".tailrace_XXXXXX";
  const FileDescriptor made(::mkostemp(probe.data(), O_CLOEXEC));
  struct stat info {};
  if (!made.is_open() || ::unlink(probe.c_str()) != 0 || ::fstat(made.get(), &info) != 0) return ::geteuid();
  return info.st_uid;
}

bool is_ours(const struct stat& info, const std::string& path) {
  if (!S_ISREG(info.st_mode)) return false;
  return info.st_uid == ::geteuid() || info.st_uid == owner_of_new_files(path);
}

Status refuse(const std::string& path, const struct stat& info, int error) {
  Fault fault;
  fault.code = TAILRACE_IO_ERROR;
  fault.operation = "open";
  fault.file = path;
  fault.system_errno = error;
  const std::string links = error == EMLINK ? fmt::format(" with {} names", info.st_nlink) : "";
  fault.message = fmt::format(
      "'{}' is {} of user {}{}; expected nothing, or a regular file of user {} with this name alone: others can make "
      "files in its directory",
      path, kind_of(info), info.st_uid, links, ::geteuid());
  return Status(std::move(fault));
}

// Returns why `path` must not be used; ok if it may be, or if there is nothing.
Status doubt(const std::string& path) {
  struct stat info {};
  if (::lstat(path.c_str(), &info) != 0) return {};
  if (is_ours(info, path)) return {};
  return refuse(path, info, S_ISLNK(info.st_mode) ? ELOOP : S_ISREG(info.st_mode) ? EPERM : EEXIST);
}

Status failed_to_open(const std::string& path, bool creates, int error) {
  Status reason = error == ENOENT ? Status() : doubt(path);
  return reason.ok() ? Status::of_errno(creates ? "create" : "open", path, error) : reason;
}

// Returns ok if `path` leads to `file`.
Status expect_at(const std::string& path, const struct stat& file) {
  struct stat found {};
  if (::lstat(path.c_str(), &found) != 0) return Status::of_errno("rename", path, errno);
  if (found.st_ino == file.st_ino && found.st_dev == file.st_dev) return {};
  Fault fault;
  fault.code = TAILRACE_IO_ERROR;
  fault.operation = "rename";
  fault.file = path;
  fault.system_errno = ESTALE;
  fault.message =
      fmt::format("'{}' is {} of user {}; expected the file that was written here: another process replaced it", path,
                  kind_of(found), found.st_uid);
  return Status(std::move(fault));
}

// Closes a duplicate of the descriptor: NFS and similar file systems then send their pending data and report errors.
// A sync does so, too, and takes longer. It needs no descriptor.
Status send_held(int fd, const std::string& path) {
  const int again = ::fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (again < 0) return ::fdatasync(fd) == 0 ? Status() : Status::of_errno("sync", path, errno);
  return ::close(again) == 0 || errno == EINTR ? Status() : Status::of_errno("write", path, errno);
}

bool is_unsupported(int error) {
  return error == EINVAL || error == ENOSYS || error == EOPNOTSUPP || error == EPERM || error == EMLINK;
}

// Gives the file a second name, and takes the first. If this process dies between the two, the old name is left over.
// NFS may answer EEXIST for a link that it made when the request came for the first time.
int link_anew(int fd, const std::string& from, const std::string& to) {
  const std::string self = fmt::format("/proc/self/fd/{}", fd);
  if (::linkat(AT_FDCWD, self.c_str(), AT_FDCWD, to.c_str(), AT_SYMLINK_FOLLOW) != 0) {
    const int error = errno;
    if (error != EEXIST || !impl::same_file(from, to)) return error;
  }
  return ::unlink(from.c_str()) == 0 ? 0 : errno;
}

// Takes the name by an empty file that cannot be opened, which fails if there is one, and puts the file in its place.
// If this process dies between the two, the empty file stays, and the old name; see is_reservation().
int replace_reservation(const std::string& from, const std::string& to) {
  const FileDescriptor reserved = open_by(to, O_WRONLY | O_CREAT | O_EXCL, 0);
  if (!reserved.is_open()) return errno;
  if (::rename(from.c_str(), to.c_str()) == 0) return 0;
  const int error = errno;
  (void)::unlink(to.c_str());
  return error;
}

// Not every file system can refuse to replace a file by a rename; of those that cannot, not every one has links.
int rename_anew(int fd, const std::string& from, const std::string& to) {
  if (::renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) return 0;
  if (errno != EINVAL && errno != ENOSYS && errno != EOPNOTSUPP) return errno;
  const int error = link_anew(fd, from, to);
  return is_unsupported(error) ? replace_reservation(from, to) : error;
}

// As rename_anew(), but takes the place of a reservation: its maker has died, since a lock keeps others away
// that would publish under this name.
int rename_to_free(int fd, const std::string& from, const std::string& to) {
  const int error = rename_anew(fd, from, to);
  if (error != EEXIST || !is_reservation(to)) return error;
  return ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
}

}  // namespace

Result<FileDescriptor> make_own_file(const std::string& path, mode_t mode) {
  for (int attempt = 0; attempt < kMakingAttempts; ++attempt) {
    FileDescriptor made = open_by(path, O_RDWR | O_CREAT | O_EXCL, mode);
    if (made.is_open()) return made;
    if (errno != EEXIST) return Status::of_errno("create", path, errno);
    if (Status reason = doubt(path); !reason.ok()) return reason;
    if (::unlink(path.c_str()) != 0 && errno != ENOENT) return Status::of_errno("remove", path, errno);
  }
  return Status::of_errno("create", path, EEXIST);
}

Result<FileDescriptor> open_own_file(const std::string& path, int flags, mode_t mode) {
  TAILRACE_REQUIRE((flags & O_TRUNC) == 0);
  // O_NONBLOCK: opening a FIFO must not wait.
  FileDescriptor file = open_by(path, flags | O_NONBLOCK, mode);
  if (!file.is_open()) return failed_to_open(path, (flags & O_CREAT) != 0, errno);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) return Status::of_errno("stat", path, errno);
  if (!is_ours(info, path)) return refuse(path, info, S_ISREG(info.st_mode) ? EPERM : EEXIST);
  if (info.st_nlink > 1) return refuse(path, info, EMLINK);
  const int now = ::fcntl(file.get(), F_GETFL);
  if (now < 0 || ::fcntl(file.get(), F_SETFL, now & ~O_NONBLOCK) != 0) return Status::of_errno("open", path, errno);
  return file;
}

bool is_own_file(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && is_ours(info, path);
}

bool is_reservation(const std::string& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 && is_ours(info, path) && info.st_size == 0 && (info.st_mode & 07777) == 0;
}

bool same_file(const std::string& one, const std::string& other) {
  struct stat first {};
  struct stat second {};
  return ::lstat(one.c_str(), &first) == 0 && ::lstat(other.c_str(), &second) == 0 && first.st_ino == second.st_ino &&
         first.st_dev == second.st_dev;
}

// The system renames names, not open files. A user who may change names in the directory can do so before and after
// this call as well. In a directory with the sticky bit only the file's owner can; elsewhere, success means that the
// written file had its name.
Status rename_open_file(int fd, const std::string& from, const std::string& to, bool replace) {
  if (Status status = send_held(fd, from); !status.ok()) return status;
  struct stat file {};
  if (::fstat(fd, &file) != 0) return Status::of_errno("stat", from, errno);
  if (Status there = expect_at(from, file); !there.ok()) return there;
  const int error = !replace ? rename_to_free(fd, from, to) : ::rename(from.c_str(), to.c_str()) == 0 ? 0 : errno;
  if (error != 0)
    return Status::of_errno(error == EEXIST ? "rename to" : "rename", error == EEXIST ? to : from, error);
  return expect_at(to, file);
}

}  // namespace tailrace::impl
