// SpscRing: a bounded queue from one producer to one consumer, in memory that both can see.
//
// The two counters run freely and wrap. Each has a cache line of its own. Each side keeps a private copy of the other
// side's counter, and renews it only when the ring looks full (or empty). So a line travels between cores once per
// batch, not once per element. The ring holds no pointers, so it works the same in memory that several processes map.
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
        // The counters may have run already, if another ring object or process was this side before. acquire: as in
        // push() and pop().
        seen_popped_(counters.popped.load(std::memory_order_acquire)),
        seen_pushed_(counters.pushed.load(std::memory_order_acquire)) {
    TAILRACE_REQUIRE(!slots.empty());
    TAILRACE_REQUIRE((slots.size() & (slots.size() - 1)) == 0);
  }

  // Only the producer. Returns false if the ring is full.
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

  // Only the consumer. Returns false if the ring is empty.
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

  // Copies the element that pop() would take, without taking it. Only the consumer. Returns false if the ring is
  // empty. Also returns false, and sets `broken`, if a faulty producer in shared memory claims more elements than the
  // ring holds.
  bool front(T& value, bool& broken) {
    const uint32_t popped = counters_->popped.load(std::memory_order_relaxed);
    const uint32_t pushed = counters_->pushed.load(std::memory_order_acquire);  // partner: as in pop()
    broken = pushed - popped > slots_.size();
    if (broken || pushed == popped) return false;
    value = slots_[popped & (slots_.size() - 1)];
    return true;
  }

  // Returns how many elements have been taken, modulo 2^32. Only the consumer.
  uint32_t taken() const { return counters_->popped.load(std::memory_order_relaxed); }

  // Takes the element, after front() returned true. Only the consumer.
  void drop() {
    const uint32_t popped = counters_->popped.load(std::memory_order_relaxed);
    counters_->popped.store(popped + 1, std::memory_order_release);  // partner: as in pop()
  }

  // Returns true if pop() would return false. Only the consumer.
  bool empty() {
    return counters_->popped.load(std::memory_order_relaxed) == counters_->pushed.load(std::memory_order_acquire);
  }

  // Returns true if push() would return false. Only the producer.
  bool full() {
    return counters_->pushed.load(std::memory_order_relaxed) - counters_->popped.load(std::memory_order_acquire) ==
           slots_.size();
  }

 private:
  Counters* counters_;
  std::span<T> slots_;
  // Each has a cache line of its own, in case both sides use one object.
  alignas(64) uint32_t seen_popped_;  // the producer's
  alignas(64) uint32_t seen_pushed_;  // the consumer's
};

}  // namespace tailrace::impl
