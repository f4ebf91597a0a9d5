// OwnMutex: a mutex that knows if the calling thread holds it. A call that the program makes, or that tailrace makes
// while it holds the mutex, must not wait for tailrace.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

namespace tailrace::process {

class OwnMutex {
 public:
  void lock() {
    mutex_.lock();
    owner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  }
  void unlock() {
    owner_.store(std::thread::id(), std::memory_order_relaxed);
    mutex_.unlock();
  }
  // relaxed: only this thread ever stores its own id, so it sees that.
  bool is_mine() const { return owner_.load(std::memory_order_relaxed) == std::this_thread::get_id(); }

 private:
  std::mutex mutex_;
  std::atomic<std::thread::id> owner_;
};

}  // namespace tailrace::process
