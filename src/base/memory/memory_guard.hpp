// MemoryGuard: watches mapped files that another process can truncate, in a process that must survive that.
//
// A thread that touches a page beyond the end of its file gets SIGBUS. In a process that has called
// survive_lost_memory(), the signal handler then replaces the whole mapping by zeros and marks it as lost. Users of
// the memory check the mark before they trust data they have read, and stop using lost memory. System calls on
// truncated memory fail with EFAULT and need none of this. A fault anywhere else ends the process as usual.
#pragma once

#include <atomic>
#include <cstddef>
#include <utility>

#include "base/status.hpp"

namespace tailrace::impl {

// Installs the handler of SIGBUS, for good. Call it once, and only in tailrace's own programs, never in an
// application.
void survive_lost_memory();

class MemoryGuard {
 public:
  static constexpr size_t kMost = 1024;  // mappings at once per process

  // Watches whole pages, which stay mapped for the guard's life. Returns TAILRACE_OUT_OF_MEMORY if kMost mappings are
  // watched already. Without survive_lost_memory() the guard does nothing.
  static Result<MemoryGuard> watch(std::byte* begin, size_t bytes);

  MemoryGuard(MemoryGuard&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)) {}
  MemoryGuard& operator=(MemoryGuard&&) = delete;
  ~MemoryGuard();

  // Returns a flag that becomes true before any thread reads a replaced zero. Null if the guard does nothing.
  const std::atomic<bool>* lost() const;

  struct Slot;

 private:
  explicit MemoryGuard(Slot* slot) : slot_(slot) {}

  Slot* slot_;  // null: the guard does nothing
};

}  // namespace tailrace::impl
