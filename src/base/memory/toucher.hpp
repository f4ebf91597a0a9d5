// Toucher: takes memory from the system beside the program, the first part first.
//
// First touch is slow (touch.hpp), and who opens should not wait for it. The allocator of a pool gives out the lowest
// part first, so that the thread here is ahead of the program; where it is not, the program takes its memory itself,
// which is slow and right. Both may take one part at a time. The kernel keeps other changes of the process's memory
// waiting while a part is taken, so parts are small.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
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
    std::function<void()> taken = {};    // its last one, if all has been taken; may be none
    int unblocked = 0;                   // see SignalsBlocked
  };

  // Begins to take `bytes`. Without a thread, where the system gives none, it takes nothing.
  Toucher(size_t bytes, Options options);
  // Ends when the part that is being taken has been.
  ~Toucher();
  Toucher(const Toucher&) = delete;
  Toucher& operator=(const Toucher&) = delete;

  // Says that the caller takes what lies before `end` itself. One thread.
  void pass_over(size_t end);
  // Waits until all has been taken, or no more is to be.
  void finish();

 private:
  void run();

  const size_t bytes_;
  const Options options_;
  const uint64_t process_ = process_mark();  // a forked child has no such thread
  std::atomic<bool> stop_{false};
  std::atomic<size_t> passed_over_{0};
  std::unique_ptr<std::thread> thread_;  // the owner's; none: nothing is taken, or all has been
};

}  // namespace tailrace::impl
