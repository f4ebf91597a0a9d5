#include "transport/ucx/descriptor_watcher.hpp"

#include <poll.h>
#include <pthread.h>

#include <array>

#include "base/deadline.hpp"
#include "base/os/signals_blocked.hpp"
#include "base/sync/futex.hpp"

namespace tailrace::impl {

DescriptorWatcher::DescriptorWatcher(int descriptor, Doorbell& doorbell, Nanoseconds limit)
    : descriptor_(descriptor), doorbell_(doorbell), limit_(limit) {
  const SignalsBlocked for_the_thread;
  thread_ = std::thread([this] {
    pthread_setname_np(pthread_self(), "tailrace-net");
    run();
  });
}

DescriptorWatcher::~DescriptorWatcher() {
  state_.store(stopped);
  stop_.raise();
  futex_wake_all(state_);
  thread_.join();
}

void DescriptorWatcher::arm() {
  state_.store(armed);
  if (rests_.load()) futex_wake_all(state_);
}

void DescriptorWatcher::disarm() { state_.store(idle); }

void DescriptorWatcher::run() {
  for (;;) {
    const uint32_t state = state_.load();
    if (state == stopped) return;
    if (state == armed) {
      watch();
    } else {
      rest();
    }
  }
}

void DescriptorWatcher::rest() {
  rests_.store(true);
  futex_wait(state_, idle, std::nullopt);
  rests_.store(false);
}

// If the owner disarms and arms again meanwhile, the thread stays in the same poll.
void DescriptorWatcher::watch() {
  std::array<pollfd, 2> waited{{{descriptor_, POLLIN, 0}, {stop_.fd(), POLLIN, 0}}};
  const timespec limit = to_timespec(limit_);
  ::ppoll(waited.data(), waited.size(), &limit, nullptr);
  uint32_t expected = armed;
  if (state_.compare_exchange_strong(expected, idle)) doorbell_.ring();
}

}  // namespace tailrace::impl
