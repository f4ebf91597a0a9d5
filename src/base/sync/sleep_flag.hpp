// SleepFlag: lets a thread announce that it is about to sleep, so that others know whether they must wake it.
//
// The sleeper calls announce(), looks for work once more, and sleeps only if there is none. A waker makes its work
// visible and then calls claim(): true means that the sleeper sleeps or is about to, and that this caller must wake
// it. All changes of the flag are read-modify-writes, so they have one order. Either claim() comes after announce()
// and sees it; or announce() comes after claim() and reads the value it released, and the sleeper's look sees the
// work. No wake-up is lost. `Atomic` is std::atomic, or a test's stand-in that tries the interleavings.
#pragma once

#include <atomic>

namespace tailrace::impl {

template <template <class> class Atomic = std::atomic>
class SleepFlag {
 public:
  // The sleeper: from here on, wakers wake it. acq_rel: acquires what an earlier claim() released.
  void announce() { asleep_.exchange(true, std::memory_order_acq_rel); }
  // The sleeper: it found work, or has woken.
  void retract() { asleep_.exchange(false, std::memory_order_acq_rel); }
  // A waker, after making its work visible. acq_rel: releases that work to the announce() that follows.
  bool claim() { return asleep_.exchange(false, std::memory_order_acq_rel); }

  // Any thread, without a promise: the sleeper may wake, or announce itself, meanwhile. acquire: of what the sleeper
  // wrote before announce(), which releases.
  bool is_announced() const { return asleep_.load(std::memory_order_acquire); }

 private:
  Atomic<bool> asleep_{false};
};

}  // namespace tailrace::impl
