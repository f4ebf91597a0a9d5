// FailureLog: what went wrong with accepted requests, until the client has seen it (promise 1).
//
// Bounded: past kKept failures the causes of further ones are not kept, but they are counted, and told as a number.
// The client's look for failures on each call is one relaxed load.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "base/status.hpp"

namespace tailrace::impl {

class FailureLog {
 public:
  static constexpr size_t kKept = 1024;

  struct Entry {
    uint64_t ticket = 0;  // 0: none
    Status status;
  };

  // Any thread.
  void add(uint64_t ticket, Status status);

  // Failures that nobody has taken yet. Any thread.
  uint64_t unseen() const { return unseen_.load(std::memory_order_relaxed); }
  // All failures ever. Any thread.
  uint64_t total() const { return total_.load(std::memory_order_relaxed); }

  // The client: takes the oldest failure, or the one of `ticket`; it counts as seen then.
  std::optional<Entry> take_oldest();
  std::optional<Entry> take(uint64_t ticket);

 private:
  std::atomic<uint64_t> unseen_{0};  // written under mutex_; relaxed: whoever needs the entries takes the mutex
  std::atomic<uint64_t> total_{0};   // as unseen_
  std::mutex mutex_;
  std::deque<Entry> entries_;  // guarded by mutex_
  uint64_t causes_lost_ = 0;   // guarded by mutex_; counted in unseen_, but not kept
};

}  // namespace tailrace::impl
