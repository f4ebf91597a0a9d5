#include "base/os/os_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/os/file_descriptor.hpp"
#include "base/os/own_file.hpp"
#include "base/os/path_below.hpp"

namespace tailrace::impl {
namespace {

// Calls open, again after each interruption by a signal.
int open_again(const char* path, int flags) {
  int fd = -1;
  do {
    fd = ::open(path, flags | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

Result<FileDescriptor> open_by(const std::string& path, int flags) {
  const int fd = open_again(path.c_str(), flags);
  if (fd < 0) return Status::of_errno("open", path, errno);
  return FileDescriptor(fd);
}

// Passes a regular file on. It was opened with kNoWaiting.
Result<FileDescriptor> regular(Result<FileDescriptor> opened, const std::string& path) {
  if (!opened.ok()) return opened;
  const int fd = opened.value().get();
  struct stat found {};
  if (::fstat(fd, &found) != 0) return Status::of_errno("open", path, errno);
  if (S_ISREG(found.st_mode)) {
    const int flags = ::fcntl(fd, F_GETFL);
    (void)::fcntl(fd, F_SETFL, flags & ~O_NONBLOCK);  // io_uring would return EAGAIN for reads that must wait
    return opened;
  }
  Fault fault;
  fault.code = TAILRACE_IO_ERROR;
  fault.operation = "open";
  fault.file = path;
  fault.system_errno = S_ISDIR(found.st_mode) ? EISDIR : EINVAL;
  fault.message = "open '" + path + "': found something else, expected a file";
  return Status(std::move(fault));
}

// O_NONBLOCK: opening a pipe without a writer would wait forever. O_NOCTTY: a terminal could become the program's
// own.
constexpr int kNoWaiting = O_NONBLOCK | O_NOCTTY;

Result<FileDescriptor> open_without_links(const std::string& path, const std::string& root, int flags) {
  if (root.empty()) return regular(open_by(path, flags | O_NOFOLLOW | kNoWaiting), path);
  return regular(open_below(root, path.substr(root.size() + (root.ends_with('/') ? 0 : 1)), flags | kNoWaiting),
                 path);
}

// Empties the file when it is open: until then it might have been another one.
Result<FileDescriptor> create(const std::string& path, const std::string& root) {
  Result<FileDescriptor> opened = open_without_links(path, root, O_RDWR | O_CREAT);
  if (!opened.ok() || ::ftruncate(opened.value().get(), 0) == 0) return opened;
  return Status::of_errno("create", path, errno);
}

Result<FileDescriptor> open_by(const std::string& path, OsFile::Mode mode, const std::string& root) {
  switch (mode) {
    case OsFile::Mode::create: return create(path, root);
    case OsFile::Mode::fresh: return make_own_file(path, 0666);
    case OsFile::Mode::own: return open_own_file(path, O_RDWR);
    case OsFile::Mode::own_read: return open_own_file(path, O_RDONLY);
    case OsFile::Mode::own_or_new: return open_own_file(path, O_RDWR | O_CREAT, 0666);
    case OsFile::Mode::edit: return open_without_links(path, root, O_RDWR);
    case OsFile::Mode::update: return open_without_links(path, root, O_RDWR | O_CREAT);
    case OsFile::Mode::view: return open_without_links(path, root, O_RDONLY);
    case OsFile::Mode::read: return regular(open_by(path, O_RDONLY | kNoWaiting), path);
    case OsFile::Mode::directory: return open_by(path, O_RDONLY | O_DIRECTORY);
  }
  TAILRACE_ASSERT(false);
}

}  // namespace

Result<OsFile> OsFile::open(const std::string& path, Mode mode, bool want_direct, const std::string& root) {
  Result<FileDescriptor> buffered = open_by(path, mode, root);
  if (!buffered.ok()) return buffered.status();
  return OsFile(path, buffered.value().release(), want_direct && mode != Mode::directory,
                mode != Mode::read && mode != Mode::view && mode != Mode::own_read);
}

OsFile::OsFile(std::string path, int buffered, bool want_direct, bool writable)
    : path_(std::move(path)), buffered_(buffered), writable_(writable), wants_direct_(want_direct) {}

int OsFile::direct() const {
  if (!wants_direct_) return direct_;
  direct_ = open_directly();
  const bool too_many = direct_ < 0 && (errno == EMFILE || errno == ENFILE);
  wants_direct_ = too_many;
  return direct_;
}

// Opens the very file that is open, even if its name has changed or gone; never creates or truncates.
int OsFile::open_directly() const {
  const int flags = (writable_ ? O_RDWR : O_RDONLY) | O_DIRECT;
  const std::string same = "/proc/self/fd/" + std::to_string(buffered_);
  const int direct = open_again(same.c_str(), flags);
  if (direct >= 0 || errno != ENOENT) return direct;
  // There is no /proc.
  FileDescriptor named(open_again(path_.c_str(), flags));
  if (!named.is_open()) return -1;
  struct stat one {};
  struct stat other {};
  const bool is_same = ::fstat(buffered_, &one) == 0 && ::fstat(named.get(), &other) == 0 &&
                       one.st_dev == other.st_dev && one.st_ino == other.st_ino;
  errno = EINVAL;
  return is_same ? named.release() : -1;
}

OsFile::OsFile(OsFile&& other) noexcept
    : path_(std::move(other.path_)),
      buffered_(std::exchange(other.buffered_, -1)),
      writable_(other.writable_),
      wants_direct_(std::exchange(other.wants_direct_, false)),
      direct_(std::exchange(other.direct_, -1)) {}

OsFile& OsFile::operator=(OsFile&& other) noexcept {
  if (this != &other) {
    close();
    path_ = std::move(other.path_);
    buffered_ = std::exchange(other.buffered_, -1);
    writable_ = other.writable_;
    wants_direct_ = std::exchange(other.wants_direct_, false);
    direct_ = std::exchange(other.direct_, -1);
  }
  return *this;
}

OsFile::~OsFile() { close(); }

void OsFile::close() {
  if (buffered_ >= 0) ::close(buffered_);
  if (direct_ >= 0) ::close(direct_);
  buffered_ = direct_ = -1;
}

Status OsFile::allocate(uint64_t offset, uint64_t length) {
  int result = 0;
  do {
    result = ::fallocate(buffered_, 0, static_cast<off_t>(offset), static_cast<off_t>(length));
  } while (result != 0 && errno == EINTR);
  if (result == 0 || errno == EOPNOTSUPP || errno == ENOSYS || errno == EINVAL) return {};
  return Status::of_errno("allocate", path_, errno);
}

void OsFile::write_behind(uint64_t offset, uint64_t length) {
  (void)::sync_file_range(buffered_, static_cast<off64_t>(offset), static_cast<off64_t>(length),
                          SYNC_FILE_RANGE_WRITE);
}

Result<uint64_t> OsFile::size() const {
  struct stat found {};
  if (::fstat(buffered_, &found) != 0) return Status::of_errno("stat", path_, errno);
  return static_cast<uint64_t>(found.st_size);
}

Result<size_t> OsFile::read(uint64_t offset, std::span<std::byte> to) const {
  size_t done = 0;
  while (done < to.size()) {
    const ssize_t count = ::pread(buffered_, to.data() + done, to.size() - done, static_cast<off_t>(offset + done));
    if (count == 0) break;
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Status::of_errno("read", path_, errno);
    done += static_cast<size_t>(count);
  }
  return done;
}

Status OsFile::write(uint64_t offset, std::span<const std::byte> from) {
  size_t done = 0;
  while (done < from.size()) {
    const std::span<const std::byte> left = from.subspan(done);
    const ssize_t count = ::pwrite(buffered_, left.data(), left.size(), static_cast<off_t>(offset + done));
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return Status::of_errno("write", path_, count < 0 ? errno : EIO);
    done += static_cast<size_t>(count);
  }
  return {};
}

Status OsFile::sync() { return ::fsync(buffered_) == 0 ? Status() : Status::of_errno("sync", path_, errno); }

Status OsFile::truncate(uint64_t size) {
  int result = 0;
  do {
    result = ::ftruncate(buffered_, static_cast<off_t>(size));
  } while (result != 0 && errno == EINTR);
  return result == 0 ? Status() : Status::of_errno("truncate", path_, errno);
}

Status OsFile::rename(const std::string& to, bool replace) {
  Status status = rename_open_file(buffered_, path_, to, replace);
  if (status.ok()) path_ = to;
  return status;
}

Status remove_file(const std::string& path) {
  if (::unlink(path.c_str()) == 0) return {};
  return Status::of_errno("remove", path, errno);
}

}  // namespace tailrace::impl
