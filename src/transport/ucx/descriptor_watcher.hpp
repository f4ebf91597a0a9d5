// DescriptorWatcher: rings a doorbell when a descriptor becomes readable, for an owner that sleeps on the doorbell.
//
// The owner arms it when it has found nothing to do, and disarms it when it looks again. The thread watches only
// while it is armed; otherwise it sleeps, so a busy owner costs it nothing. Each arming rings the bell at most once:
// after the descriptor has become readable, or after a limit, since UCX's descriptor may miss an event (ucx#7864). It
// never reads from the descriptor.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>

#include "base/sync/doorbell.hpp"

namespace tailrace::impl {

class DescriptorWatcher {
 public:
  // Starts the thread, which gets no signals. Both outlive the watcher. Throws std::system_error if the system gives
  // no thread.
  DescriptorWatcher(int descriptor, Doorbell& doorbell, Nanoseconds limit);
  ~DescriptorWatcher();
  DescriptorWatcher(const DescriptorWatcher&) = delete;
  DescriptorWatcher& operator=(const DescriptorWatcher&) = delete;

  // Only the owner calls these two. A bell may still ring after disarm(), without a reason.
  void arm();
  void disarm();

 private:
  enum State : uint32_t { idle, armed, stopped };

  void run();
  void rest();
  void watch();

  const int descriptor_;
  Doorbell& doorbell_;
  const Nanoseconds limit_;
  // All accesses are seq_cst: arm() sets the state and then reads `rests_`, rest() the other way round, and one of
  // them must see the other.
  std::atomic<uint32_t> state_{idle};
  std::atomic<bool> rests_{false};
  const EventFd stop_;
  std::thread thread_;  // the last member: it uses the others
};

}  // namespace tailrace::impl
