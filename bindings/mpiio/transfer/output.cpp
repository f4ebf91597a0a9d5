#include "mpiio/transfer/output.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "mpiio/pending/pending.hpp"
#include "mpiio/process/process.hpp"
#include "process_client/bytes/extents.hpp"
#include "process_client/counted.hpp"

namespace tailrace::mpiio {
namespace {

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

// Waits until the server has closed the file, too. The program may remove the file next: the last one that
// has it open frees its space, which takes long for a large file.
Output::~Output() {
  if (!raw_.has_value()) return;
  carrier().close(*raw_);
  (void)Pending::instance().flush();  // failures belong to the file
}

bool Output::has_its_name() const { return FileKey::of(path_).is(own_.key()); }

// The server opens the file by its name, and would make one if the name were free.
bool Output::open_for_server() {
  if (std::exchange(tried_, true)) return raw_.has_value();
  tailrace_file opened{};
  if (!has_its_name() || !carrier().open(path_, &opened)) return false;
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

// Writes first the bytes that another opening of the file has on their way: they must not come later.
Output::Refusal Output::write_here(std::span<const tailrace_extent> extents, const std::byte* from) {
  if (Pending::instance().has(own_.key())) (void)Pending::instance().flush_client();  // failures belong to the file
  carrier().count_own(1, extents);
  for (const tailrace_extent& extent : extents) {
    if (const int error = write_at(own_.get(), extent, from); error != 0) {
      return {TAILRACE_IO_ERROR,
              path_ + ": write of " + process::counted(extent.length, "byte") + " at offset " +
                  std::to_string(extent.offset) + " failed: " + std::strerror(error),
              error};
    }
    from += extent.length;
  }
  return {};
}

// Returns true for the first few bytes, while the server has nothing of the file that they could overtake.
bool Output::are_small(std::span<const tailrace_extent> extents) {
  const uint64_t bytes = process::bytes_of(extents);
  if (extents.size() > kFew || small_ + bytes > kSmall || !may_write_here()) return false;
  if (Pending::instance().has(own_.key())) return false;
  small_ += bytes;
  return true;
}

Output::Refusal Output::write(std::span<const tailrace_extent> extents, const std::byte* from, uint64_t access) {
  Pending::instance().wait_for_others(own_.key(), extents, access);
  const std::lock_guard lock(mutex_);
  return are_small(extents) ? write_here(extents, from) : hand_over_locked(extents, from, access);
}

void Output::prepare() {
  const std::lock_guard lock(mutex_);
  (void)open_for_server();
}

Output::Refusal Output::hand_over(std::span<const tailrace_extent> extents, const std::byte* from, uint64_t access) {
  const std::lock_guard lock(mutex_);
  return hand_over_locked(extents, from, access);
}

Output::Refusal Output::hand_over_locked(std::span<const tailrace_extent> extents, const std::byte* from,
                                         uint64_t access) {
  if (!open_for_server()) return write_here(extents, from);
  const Pending::HandingOver handing_over(own_.key(), extents, access);
  return carrier().write(*raw_, extents, from);
}

Output::Refusal Output::iwrite(std::span<const tailrace_extent> extents, const std::byte* from,
                               std::vector<tailrace_ticket>& tickets) {
  Pending::instance().wait_for_others(own_.key(), extents);
  const std::lock_guard lock(mutex_);
  if (!open_for_server()) return write_here(extents, from);
  const Pending::HandingOver handing_over(own_.key(), extents, 0);
  return carrier().iwrite(*raw_, extents, from, tickets);
}

}  // namespace tailrace::mpiio
