#include "base/memory/memory_guard.hpp"

#include <fmt/format.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>

#include "base/assert.hpp"

namespace tailrace::impl {

struct MemoryGuard::Slot {
  std::atomic<bool> taken{false};
  std::atomic<uintptr_t> begin{0};  // 0: the slot watches nothing
  std::atomic<uintptr_t> bytes{0};
  std::atomic<bool> lost{false};
};

namespace {

// State of the whole process, as the signal handler is. The handler takes no lock and follows no pointer.
std::atomic<bool> surviving{false};
MemoryGuard::Slot slots[MemoryGuard::kMost];
struct sigaction before;  // written before `surviving` is

// Replaces the watched memory that contains the address by zeros; returns false if no memory there is watched.
// Several threads may do so for the same memory: the repetition is harmless.
bool replace(uintptr_t address) {
  for (MemoryGuard::Slot& slot : slots) {
    // acquire: partner of the release in watch(), so that `begin` and `bytes` belong together.
    const uintptr_t begin = slot.begin.load(std::memory_order_acquire);
    const uintptr_t bytes = slot.bytes.load(std::memory_order_relaxed);
    if (begin == 0 || address < begin || address - begin >= bytes) continue;
    // release, before the zeros appear: a thread that reads a zero also sees `lost`; partner: the callers of lost().
    slot.lost.store(true, std::memory_order_release);
    // Uses the bare system call: it is safe in a handler, and it is no write by this thread that could race with
    // readers.
    return syscall(SYS_mmap, begin, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != -1;
  }
  return false;
}

void on_bus_error(int signal, siginfo_t* about, void*) {
  const int error = errno;
  const bool by_a_look = about->si_code > 0;  // otherwise a process sent the signal
  if (by_a_look && replace(reinterpret_cast<uintptr_t>(about->si_addr))) {
    errno = error;
    return;
  }
  sigaction(signal, &before, nullptr);
  raise(signal);  // takes effect when this returns
}

}  // namespace

void survive_lost_memory() {
  if (surviving.load()) return;
  struct sigaction handler {};
  handler.sa_sigaction = on_bus_error;
  handler.sa_flags = SA_SIGINFO;
  sigemptyset(&handler.sa_mask);
  TAILRACE_ASSERT(sigaction(SIGBUS, &handler, &before) == 0);
  surviving.store(true);
}

Result<MemoryGuard> MemoryGuard::watch(std::byte* begin, size_t bytes) {
  if (!surviving.load()) return MemoryGuard(nullptr);
  for (Slot& slot : slots) {
    if (slot.taken.exchange(true)) continue;
    slot.lost.store(false);
    slot.bytes.store(bytes);
    // release: a thread that sees `begin` also sees `bytes`; partner: replace().
    slot.begin.store(reinterpret_cast<uintptr_t>(begin), std::memory_order_release);
    return MemoryGuard(&slot);
  }
  return Status(TAILRACE_OUT_OF_MEMORY,
                fmt::format("shared memory: found {} segments mapped, expected room for one more", kMost));
}

MemoryGuard::~MemoryGuard() {
  if (slot_ == nullptr) return;
  slot_->begin.store(0);
  slot_->taken.store(false);
}

const std::atomic<bool>* MemoryGuard::lost() const { return slot_ == nullptr ? nullptr : &slot_->lost; }

}  // namespace tailrace::impl
