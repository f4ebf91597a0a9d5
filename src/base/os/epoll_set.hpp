// EpollSet: lets one thread wait for many descriptors, each with a number.
//
// An edge-triggered descriptor is reported once for each event. An event counter is then a bell that needs no
// reading; an untrusted process that shares the counter could otherwise empty it before the reader. A level-triggered
// descriptor is reported as long as there is something to do. Owns none of the descriptors.
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
  enum class Trigger { level, edge, edge_both };  // edge_both: also when `fd` can be written to
  static constexpr size_t kAtOnce = 64;           // reported by one wait; the next reports the others

  static Result<EpollSet> create();

  // Reports `tag` when `fd` can be read or its other side has closed.
  Status add(int fd, uint64_t tag, Trigger trigger);
  // Removes `fd`. Call it before `fd` is closed: if another process has it open too, it would be reported for ever.
  // The result of an earlier wait() may still contain its tag.
  void remove(int fd);

  // Sleeps until there is something to report, or for `timeout` (none: no limit). The result is valid until the next
  // call.
  std::span<const uint64_t> wait(std::optional<Nanoseconds> timeout);
  // Returns the descriptor of the set, which can be read when there is something to report.
  int fd() const { return set_.get(); }

 private:
  explicit EpollSet(FileDescriptor set) : set_(std::move(set)) {}

  FileDescriptor set_;
  std::array<uint64_t, kAtOnce> ready_{};
};

}  // namespace tailrace::impl
