// The simulated operating system, which replaces base/event_fd.cpp and base/futex.cpp at link time.
//
// It keeps the kernel's contracts, but switches fibers instead of putting threads to sleep. It is part of the
// executables that simulate, never of a library, so that the linker takes it instead of the others.
#include "base/sync/event_fd.hpp"
#include "base/sync/futex.hpp"
#include "testing/simulation/world.hpp"

namespace tailrace::impl {

using simulation::World;

EventFd::EventFd() : fd_(World::now().new_event()) {}

EventFd::~EventFd() = default;

void EventFd::raise() const {
  World& world = World::now();
  ++world.event(fd_);
  world.wake(this);
  world.choose();
}

// No simulated server has another descriptor.
void EventFd::take(std::optional<Nanoseconds> limit, int /*other*/) const {
  World& world = World::now();
  world.choose();
  if (limit && world.event(fd_) == 0) {
    world.sleep(this, std::max(*limit, Nanoseconds::zero()));
    if (world.event(fd_) == 0) return;
  }
  while (world.event(fd_) == 0) world.sleep(this, std::nullopt);
  world.event(fd_) = 0;
}

void futex_wait(const std::atomic<uint32_t>& word, uint32_t expected,
                std::optional<std::chrono::nanoseconds> timeout) {
  World& world = World::now();
  world.choose();
  world.end_if_killed();
  if (word.load() != expected || world.spurious()) return;
  world.sleep(&word, timeout);
  world.end_if_killed();
}

void futex_wake_all(const std::atomic<uint32_t>& word) {
  World& world = World::now();
  world.wake(&word);
  world.choose();
}

}  // namespace tailrace::impl
