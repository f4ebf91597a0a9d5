// EpollSet: one thread waits for many descriptors, each known by a number.
//
// Edge-triggered, a descriptor is reported once each time something happens to it; an event counter is then a bell
// that nobody has to read, which matters where a process that is not trusted has the same counter and could empty it
// under a reader. Level-triggered, it is reported as long as there is something to do. Owns none of the descriptors.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>

#include "base/clock.hpp"
#include "base/os/file_descriptor.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

class EpollSet {
 public:
  enum class Trigger { level, edge };
  static constexpr size_t kAtOnce = 64;  // of one wait; the others are reported by the next

  static Result<EpollSet> create();

  // Reports `tag` when `fd` can be read or its other side has closed.
  Status add(int fd, uint64_t tag, Trigger trigger);
  // Before `fd` is closed: if another process has it too, it would be reported on and on. The result of an earlier
  // wait() may still hold its tag.
  void remove(int fd);

  // Sleeps until there is something to report, or for `timeout` at the most (none: no limit). Until the next call.
  std::span<const uint64_t> wait(std::optional<Nanoseconds> timeout);

 private:
  explicit EpollSet(FileDescriptor set) : set_(std::move(set)) {}

  FileDescriptor set_;
  std::array<uint64_t, kAtOnce> ready_{};
};

}  // namespace tailrace::impl
