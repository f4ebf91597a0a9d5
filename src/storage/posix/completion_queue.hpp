// CompletionQueue: returns completions from the write threads of the back end `posix` to the engine's thread.
//
// It rings the doorbell after each put. The depth of the storage bounds it, so a put never waits.
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
  // Takes the available completions; never waits for more. Any thread.
  size_t take(std::span<Completion> done);

 private:
  // Constant after construction.
  Doorbell& doorbell_;
  Mutex mutex_;
  FixedFifo<Completion> done_ TAILRACE_GUARDED_BY(mutex_);
};

}  // namespace tailrace::impl
