#include "storage/posix/completion_queue.hpp"

namespace tailrace::impl {

void CompletionQueue::put(const Completion& completion) {
  {
    const MutexLock lock(mutex_);
    done_.push(completion);
  }
  // Rings outside the lock, so that the engine does not wake only to wait for it.
  doorbell_.ring();
}

size_t CompletionQueue::take(std::span<Completion> done) {
  const MutexLock lock(mutex_);
  size_t count = 0;
  while (count < done.size() && !done_.empty()) done[count++] = done_.pop();
  return count;
}

}  // namespace tailrace::impl
