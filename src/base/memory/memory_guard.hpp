// MemoryGuard: mapped files that another process can cut short, in a process that must survive it.
//
// Who looks at a page that its file has no more is sent SIGBUS. In a process that has called survive_lost_memory(),
// the memory is replaced by zeros then, all of it, and marked as lost: whoever works with it asks before it believes
// what it read, and lets go of it. System calls on such memory fail with EFAULT, and need nothing of this. A fault
// anywhere else ends the process as it would have.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include "base/status.hpp"

namespace tailrace::impl {

// Takes the signal SIGBUS for good: for programs of tailrace's own, never for one that it is linked into. Once.
void survive_lost_memory();

class MemoryGuard {
 public:
  static constexpr size_t kMost = 1024;  // at once, in a process

  // Watches whole pages, which stay mapped until its end. TAILRACE_OUT_OF_MEMORY if so many are watched already.
  // Where survive_lost_memory() has not been called it does nothing.
  static Result<MemoryGuard> watch(std::byte* begin, size_t bytes);

  MemoryGuard(MemoryGuard&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
  MemoryGuard& operator=(MemoryGuard&&) = delete;
  ~MemoryGuard();

  // Becomes true before anybody reads a zero that was put there. None: nobody watches.
  const std::atomic<bool>* lost() const;

  struct Slot;

 private:
  explicit MemoryGuard(Slot* slot) : slot_(slot) {}

  Slot* slot_;  // none: it does nothing
};

}  // namespace tailrace::impl
