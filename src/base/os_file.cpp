#include "base/os_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <utility>

namespace tailrace::impl {
namespace {

int open_again(const char* path, int flags) {
  int fd = -1;
  do {
    fd = ::open(path, flags | O_CLOEXEC, 0666);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

int flags_of(OsFile::Mode mode) {
  switch (mode) {
    case OsFile::Mode::create: return O_RDWR | O_CREAT | O_TRUNC;
    case OsFile::Mode::edit: return O_RDWR;
    case OsFile::Mode::update: return O_RDWR | O_CREAT | O_NOFOLLOW;
    case OsFile::Mode::read: return O_RDONLY;
    case OsFile::Mode::directory: return O_RDONLY | O_DIRECTORY;
  }
  TAILRACE_ASSERT(false);
}

}  // namespace

Result<OsFile> OsFile::open(const std::string& path, Mode mode, bool want_direct) {
  const int buffered = open_again(path.c_str(), flags_of(mode));
  if (buffered < 0) return Status::of_errno(mode == Mode::create ? "create" : "open", path, errno);
  int direct = -1;
  if (want_direct && mode != Mode::directory) {
    // The file exists now: open the same one again, never create or truncate.
    direct = open_again(path.c_str(), (mode == Mode::read ? O_RDONLY : O_RDWR) | O_DIRECT);
  }
  return OsFile(path, buffered, direct);
}

OsFile::OsFile(std::string path, int buffered, int direct)
    : path_(std::move(path)), buffered_(buffered), direct_(direct) {}

OsFile::OsFile(OsFile&& other) noexcept
    : path_(std::move(other.path_)),
      buffered_(std::exchange(other.buffered_, -1)),
      direct_(std::exchange(other.direct_, -1)) {}

OsFile& OsFile::operator=(OsFile&& other) noexcept {
  if (this != &other) {
    close();
    path_ = std::move(other.path_);
    buffered_ = std::exchange(other.buffered_, -1);
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

Status rename_file(const std::string& from, const std::string& to) {
  if (::rename(from.c_str(), to.c_str()) == 0) return {};
  return Status::of_errno("rename", from, errno);
}

Status remove_file(const std::string& path) {
  if (::unlink(path.c_str()) == 0) return {};
  return Status::of_errno("remove", path, errno);
}

}  // namespace tailrace::impl
