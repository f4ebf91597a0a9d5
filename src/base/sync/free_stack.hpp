// FreeStack: returns finished blocks to the owner of a pool (Treiber 1986; Sid Lakhdar 2017 §3.1.3).
//
// Any thread pushes the index of a block; the owner takes the whole stack with one exchange. No thread ever takes a
// single element, so a stale head does no harm: there is no ABA problem. Links are indices, so the stack works the
// same in memory that several processes map. `Atomic` is std::atomic, or a test's stand-in that tries the
// interleavings.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/assert.hpp"

namespace tailrace::impl {

inline constexpr uint32_t kNoBlock = 0xffffffffu;

template <template <class> class Atomic = std::atomic>
class FreeStack {
 public:
  // The shared part, on a cache line of its own, since both sides write it.
  struct alignas(64) Head {
    Atomic<uint32_t> top{kNoBlock};
  };

  // `links[i]` is the block below block i. Both outlive the stack.
  FreeStack(Head& head, std::span<Atomic<uint32_t>> links) : head_(&head), links_(links) {}

  // Returns the number of blocks.
  uint32_t capacity() const { return static_cast<uint32_t>(links_.size()); }

  // Pushes a block that is not on the stack. Any thread.
  void push(uint32_t block) {
    TAILRACE_ASSERT(block < links_.size());
    uint32_t top = head_->top.load(std::memory_order_relaxed);
    do {
      // relaxed: the link is published by the exchange below.
      links_[block].store(top, std::memory_order_relaxed);
      // release: all uses of the block, and its link, come before; partner: the exchange in take_all().
    } while (!head_->top.compare_exchange_weak(top, block, std::memory_order_release, std::memory_order_relaxed));
  }

  // Any thread; the result may be outdated at once.
  bool empty() const { return head_->top.load(std::memory_order_relaxed) == kNoBlock; }

  // Empties the stack and calls `each(block)` from the top down. Only the owner. A link out of range, or a cycle of
  // links, can only come from a faulty writer in shared memory, and ends the walk with a defect.
  template <class Each>
  void take_all(Each each) {
    // acquire: the finishers' uses of the blocks come before the owner's; partner: push().
    uint32_t block = head_->top.exchange(kNoBlock, std::memory_order_acquire);
    size_t taken = 0;
    while (block != kNoBlock) {
      TAILRACE_ASSERT(block < links_.size());
      TAILRACE_ASSERT(taken++ < links_.size());
      const uint32_t next = links_[block].load(std::memory_order_relaxed);
      each(block);
      block = next;
    }
  }

 private:
  Head* head_;
  std::span<Atomic<uint32_t>> links_;
};

}  // namespace tailrace::impl
