// Toucher: takes memory from the system beside the program, the first part first.
//
// The first touch of memory is slow (touch.hpp), and opening should not wait for it. The allocator of a pool gives
// out the lowest part first, so this thread is ahead of the program. If it is not, the program touches the memory
// itself, which is slower and correct; both may take a part at the same time. The kernel delays other changes of the
// process's memory while a part is taken, so parts are small.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>

#include "base/memory/process_mark.hpp"
#include "base/memory/touch.hpp"

namespace tailrace::impl {

class Toucher {
 public:
  static constexpr size_t kPart = kHugePage;

  struct Options {
    // Takes a part of at most kPart bytes, which begins at a multiple of it. Returns false if no more is to be taken.
    std::function<bool(size_t offset, size_t size)> take;
    std::function<void()> prepare = {};  // the thread's first act; none: it runs as the caller does
    std::function<void()> taken = {};    // called once when all has been taken; may be none
    std::function<bool()> improve = {};  // called after that, with a pause before each call, until it returns false
    int unblocked = 0;                   // see SignalsBlocked
  };

  // Begins to take `bytes`. Without a thread, where the system gives none, it takes nothing.
  Toucher(size_t bytes, Options options);
  // Waits only for the call of an option that is in progress.
  ~Toucher();
  Toucher(const Toucher&) = delete;
  Toucher& operator=(const Toucher&) = delete;

  // Says that the caller takes what lies before `end` itself. One thread.
  void pass_over(size_t end);
  // Waits until the thread has ended by itself.
  void finish();

 private:
  // The thread waits here between two calls of Options::improve.
  struct Interval {
    std::mutex mutex;
    std::condition_variable ended;
  };

  void run();
  void take_all();
  void improve();
  // Returns true after a pause, or false if the toucher ends.
  bool pause();

  const size_t bytes_;
  const Options options_;
  const uint64_t process_ = process_mark();  // a forked child has no such thread
  std::atomic<bool> stop_{false};            // changed under interval_->mutex, so that pause() does not miss it
  std::unique_ptr<Interval> interval_ = std::make_unique<Interval>();  // a child must not destroy it
  std::atomic<size_t> passed_over_{0};
  std::unique_ptr<std::thread> thread_;  // the owner's; none: nothing is taken, or all has been
};

}  // namespace tailrace::impl
