// Toucher: takes memory from the system beside the program, the first part first.
//
// The first touch of memory is slow (touch.hpp), and opening should not wait for it. The allocator of a pool gives
// out the lowest part first, so this thread is ahead of the program. If it is not, the program touches the memory
// itself, which is slower and correct; both may take a part at the same time. The kernel delays other changes of the
// process's memory while a part is taken, so parts are small.
//
// It need not take all at once: with Options::ahead, it takes that much, and goes on as the program uses memory, so
// that as much again is ready. A program that uses little of a large pool leaves the rest to the system.
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
    // Called when a stretch has been taken, with a pause before each call, until it returns false.
    std::function<bool()> improve = {};
    int unblocked = 0;        // see SignalsBlocked
    size_t ahead = SIZE_MAX;  // bytes that are taken before they are used, at least
  };

  // Begins to take `bytes`. Without a thread, where the system gives none, it takes nothing.
  Toucher(size_t bytes, Options options);
  // Waits only for the call of an option that is in progress.
  ~Toucher();
  Toucher(const Toucher&) = delete;
  Toucher& operator=(const Toucher&) = delete;

  // Says that the caller takes what lies before `end` itself. One thread.
  void pass_over(size_t end);
  // Returns the end of what has been taken, apart from what it has passed over. Any thread.
  size_t taken() const;
  // Says that the program uses memory up to `end`: as much again is taken, and at least Options::ahead. Any thread.
  void use(size_t end);
  // Waits until the thread has ended by itself, having taken all.
  void finish();

 private:
  // The thread's orders. It waits here.
  struct Orders {
    std::mutex mutex;
    std::condition_variable changed;
    bool stop = false;
    size_t target = 0;  // bytes to take; only grows
  };

  enum class Next { take, improve, end };

  void run();
  // Waits for the next act: until there is more to take, or, while `improving`, for a pause.
  Next next(size_t offset, bool more, bool improving);
  // Takes the part at `offset`, or a later one, and advances `offset`. Returns false if no more is to be taken.
  bool take_next(size_t& offset);
  // Returns how much is to be taken when the program uses memory up to `end`.
  size_t target_of(size_t end) const;

  const size_t bytes_;
  const Options options_;
  const uint64_t process_ = process_mark();                      // a forked child has no such thread
  std::unique_ptr<Orders> orders_ = std::make_unique<Orders>();  // a child must not destroy it
  std::atomic<size_t> passed_over_{0};
  std::atomic<size_t> taken_{0};
  std::unique_ptr<std::thread> thread_;  // the owner's; none: nothing is taken, or all has been
};

}  // namespace tailrace::impl
