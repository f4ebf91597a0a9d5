// SpscRing: a bounded queue from one producer to one consumer, over memory that both can see.
//
// The two counters run freely and wrap; each lives on a cache line of its own, and each side keeps a private copy of
// the other's, which it renews only when the ring looks full (or empty): so a line travels between cores once a
// batch, not once an element. Holds no pointers, so that it works the same in memory that several processes map.
// `Atomic` is std::atomic, or a test's stand-in that tries the interleavings.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/assert.hpp"

namespace tailrace::impl {

template <class T, template <class> class Atomic = std::atomic>
class SpscRing {
 public:
  struct Counters {
    alignas(64) Atomic<uint32_t> pushed{0};  // written by the producer
    alignas(64) Atomic<uint32_t> popped{0};  // written by the consumer
  };

  // The number of slots is a power of two. Both outlive the ring.
  SpscRing(Counters& counters, std::span<T> slots)
      : counters_(&counters),
        slots_(slots),
        // The counters may have run already (another ring object, or process, was this side before). acquire: as in
        // push() and pop().
        seen_popped_(counters.popped.load(std::memory_order_acquire)),
        seen_pushed_(counters.pushed.load(std::memory_order_acquire)) {
    TAILRACE_REQUIRE(!slots.empty());
    TAILRACE_REQUIRE((slots.size() & (slots.size() - 1)) == 0);
  }

  // The producer only. False if the ring is full.
  bool push(const T& value) {
    // relaxed: only the producer writes `pushed`.
    const uint32_t pushed = counters_->pushed.load(std::memory_order_relaxed);
    if (pushed - seen_popped_ == slots_.size()) {
      // acquire: the consumer has read the slot before it is written again; partner: the release in pop().
      seen_popped_ = counters_->popped.load(std::memory_order_acquire);
      if (pushed - seen_popped_ == slots_.size()) return false;
    }
    slots_[pushed & (slots_.size() - 1)] = value;
    // release: the slot is written before it is seen; partner: the acquire in pop().
    counters_->pushed.store(pushed + 1, std::memory_order_release);
    return true;
  }

  // The consumer only. False if the ring is empty.
  bool pop(T& value) {
    // relaxed: only the consumer writes `popped`.
    const uint32_t popped = counters_->popped.load(std::memory_order_relaxed);
    if (popped == seen_pushed_) {
      // acquire: the slot is read after it was written; partner: the release in push().
      seen_pushed_ = counters_->pushed.load(std::memory_order_acquire);
      if (popped == seen_pushed_) return false;
    }
    value = slots_[popped & (slots_.size() - 1)];
    // release: the slot was read before it is given back; partner: the acquire in push().
    counters_->popped.store(popped + 1, std::memory_order_release);
    return true;
  }

  // The consumer only: what pop() would take, without taking it. False if the ring is empty, or if the producer, gone
  // wild in shared memory, claims to have put more into it than it holds; `broken` is then set.
  bool front(T& value, bool& broken) {
    const uint32_t popped = counters_->popped.load(std::memory_order_relaxed);
    const uint32_t pushed = counters_->pushed.load(std::memory_order_acquire);  // partner: as in pop()
    broken = pushed - popped > slots_.size();
    if (broken || pushed == popped) return false;
    value = slots_[popped & (slots_.size() - 1)];
    return true;
  }

  // The consumer only, after front() was true: takes it.
  void drop() {
    const uint32_t popped = counters_->popped.load(std::memory_order_relaxed);
    counters_->popped.store(popped + 1, std::memory_order_release);  // partner: as in pop()
  }

  // The consumer only: whether pop() would return false.
  bool empty() {
    return counters_->popped.load(std::memory_order_relaxed) == counters_->pushed.load(std::memory_order_acquire);
  }

  // The producer only: whether push() would return false.
  bool full() {
    return counters_->pushed.load(std::memory_order_relaxed) - counters_->popped.load(std::memory_order_acquire) ==
           slots_.size();
  }

 private:
  Counters* counters_;
  std::span<T> slots_;
  // Each on a line of its own, for the case that both sides use one object.
  alignas(64) uint32_t seen_popped_;  // the producer's
  alignas(64) uint32_t seen_pushed_;  // the consumer's
};

}  // namespace tailrace::impl
