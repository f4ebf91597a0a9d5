#include "mpiio/files/output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "mpiio/files/process.hpp"

namespace tailrace::mpiio {
namespace {

uint64_t bytes_of(std::span<const tailrace_extent> extents) {
  uint64_t bytes = 0;
  for (const tailrace_extent& extent : extents) bytes += extent.length;
  return bytes;
}

// Returns 0, or an errno.
int write_at(int descriptor, const tailrace_extent& extent, const std::byte* from) {
  uint64_t done = 0;
  while (done < extent.length) {
    const ssize_t wrote =
        ::pwrite(descriptor, from + done, extent.length - done, static_cast<off_t>(extent.offset + done));
    if (wrote < 0 && errno != EINTR) return errno;
    if (wrote > 0) done += static_cast<uint64_t>(wrote);
  }
  return 0;
}

}  // namespace

Output::~Output() {
  if (raw_.has_value()) carrier().close(*raw_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

bool Output::open() {
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  return descriptor_ >= 0;
}

bool Output::has_its_name() const {
  struct stat here {};
  struct stat there {};
  return ::fstat(descriptor_, &here) == 0 && ::stat(path_.c_str(), &there) == 0 && here.st_dev == there.st_dev &&
         here.st_ino == there.st_ino;
}

// The server opens the file by its name, which may lead to another one by now.
bool Output::open_for_server() {
  if (std::exchange(tried_, true)) return raw_.has_value();
  tailrace_file opened{};
  if (!carrier().open(path_, &opened)) return false;
  if (has_its_name()) {
    raw_ = opened;
  } else {
    carrier().close(opened);
  }
  return raw_.has_value();
}

std::optional<tailrace_file> Output::raw() {
  const std::lock_guard lock(mutex_);
  return raw_;
}

Output::Refusal Output::write_here(std::span<const tailrace_extent> extents, const std::byte* from) {
  carrier().count_own(1, extents);
  for (const tailrace_extent& extent : extents) {
    if (const int error = write_at(descriptor_, extent, from); error != 0) {
      return {TAILRACE_IO_ERROR,
              path_ + ": write of " + std::to_string(extent.length) + " bytes at offset " +
                  std::to_string(extent.offset) + " failed: " + std::strerror(error),
              error};
    }
    from += extent.length;
  }
  return {};
}

std::optional<Output::Refusal> Output::write_small(std::span<const tailrace_extent> extents, const std::byte* from) {
  const std::lock_guard lock(mutex_);
  const uint64_t bytes = bytes_of(extents);
  if (extents.size() > kFew || small_ + bytes > kSmall || !may_write_here()) return std::nullopt;
  small_ += bytes;
  return write_here(extents, from);
}

Output::Refusal Output::write(std::span<const tailrace_extent> extents, const std::byte* from) {
  const std::lock_guard lock(mutex_);
  return open_for_server() ? carrier().write(*raw_, extents, from) : write_here(extents, from);
}

Output::Refusal Output::iwrite(std::span<const tailrace_extent> extents, const std::byte* from,
                               std::vector<tailrace_ticket>& tickets) {
  const std::lock_guard lock(mutex_);
  return open_for_server() ? carrier().iwrite(*raw_, extents, from, tickets) : write_here(extents, from);
}

}  // namespace tailrace::mpiio
