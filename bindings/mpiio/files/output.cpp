#include "mpiio/files/output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "mpiio/pending/pending.hpp"
#include "mpiio/process/process.hpp"

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

bool Output::open(const FileKey& file) {
  key_ = file;
  descriptor_ = ::open(path_.c_str(), O_WRONLY | O_CLOEXEC);
  struct stat found {};
  return descriptor_ >= 0 && ::fstat(descriptor_, &found) == 0 && FileKey{found.st_dev, found.st_ino} == key_;
}

bool Output::has_its_name() const {
  struct stat found {};
  return ::stat(path_.c_str(), &found) == 0 && FileKey{found.st_dev, found.st_ino} == key_;
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

bool Output::are_small(std::span<const tailrace_extent> extents) {
  const uint64_t bytes = bytes_of(extents);
  if (extents.size() > kFew || small_ + bytes > kSmall || !may_write_here()) return false;
  small_ += bytes;
  return true;
}

// What this process writes itself must not be overtaken by what it has handed over before.
bool Output::goes_to_server(std::span<const tailrace_extent> extents) {
  const std::lock_guard lock(mutex_);
  Pending& pending = Pending::instance();
  const bool is_idle = !pending.has(key_);
  if (is_idle && are_small(extents)) return false;
  if (open_for_server()) return true;
  if (!is_idle) (void)pending.flush();  // failures belong to the file
  return false;
}

Output::Refusal Output::write(std::span<const tailrace_extent> extents, const std::byte* from) {
  Pending::instance().wait_for_others(key_, extents);
  if (!goes_to_server(extents)) return write_here(extents, from);
  const Pending::HandingOver handing_over(key_, extents);
  return carrier().write(*raw(), extents, from);
}

Output::Refusal Output::iwrite(std::span<const tailrace_extent> extents, const std::byte* from,
                               std::vector<tailrace_ticket>& tickets) {
  Pending::instance().wait_for_others(key_, extents);
  if (!goes_to_server(extents)) return write_here(extents, from);
  const Pending::HandingOver handing_over(key_, extents);
  return carrier().iwrite(*raw(), extents, from, tickets);
}

}  // namespace tailrace::mpiio
