// The way back of the back end `posix`: write threads put completions, the engine's thread takes them.
//
// Rings the doorbell after each put. Bounded by the depth of the storage, so a put never waits.
#pragma once

#include <span>

#include "base/mutex.hpp"
#include "base/sync/doorbell.hpp"
#include "storage/fixed_fifo.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

class CompletionQueue {
 public:
  CompletionQueue(Doorbell& doorbell, uint32_t depth) : doorbell_(doorbell), done_(depth) {}

  // Any thread.
  void put(const Completion& completion);
  // Any thread. Never waits for a completion to come.
  size_t take(std::span<Completion> done);

 private:
  // Constant after construction.
  Doorbell& doorbell_;
  Mutex mutex_;
  FixedFifo<Completion> done_ TAILRACE_GUARDED_BY(mutex_);
};

}  // namespace tailrace::impl
