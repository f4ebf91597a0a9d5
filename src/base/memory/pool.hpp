// The two-ended pool: memory that one thread allocates from, and any thread gives back to (design §6).
//
// The owner's end is PoolOwner: book-keeping private to the owner, no locks, no system calls. The other end is the
// FreeStack: whoever has finished with a block pushes its index, and the owner takes the whole stack when it next
// allocates. Only the bytes, the links and the head of the stack need be visible to both sides; none holds a pointer,
// so that the sides may be processes that map them at different addresses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "base/memory/range_allocator.hpp"
#include "base/sync/block_holds.hpp"
#include "base/sync/free_stack.hpp"

namespace tailrace::impl {

struct PoolBlock {
  uint32_t index = kNoBlock;  // names the block to the free stack
  uint64_t offset = 0;        // from the start of the pool's bytes
};

class PoolOwner {
 public:
  // A pool of `size` bytes (a multiple of the page) with at most as many blocks as `returned` has links.
  PoolOwner(uint64_t size, FreeStack<> returned) : ranges_(size, returned.capacity()), returned_(returned) {}

  // A block of at least `bytes`, aligned to a cache line, from a page on to a page. Nothing if there is none now.
  std::optional<PoolBlock> allocate(uint64_t bytes) {
    collect();
    const auto range = ranges_.allocate(bytes);
    if (!range) return std::nullopt;
    peak_ = std::max(peak_, ranges_.held());
    return PoolBlock{range->node, range->offset};
  }

  // Gives back a block that never left the owner.
  void free(PoolBlock block) { end(block.index); }

  // Keeps a block in use, with what is in it, until the hold ends, however soon it is given back. `memory` keeps the
  // pool's bytes mapped; it is taken by the first hold, for all. Null if there are too many. Allocates.
  std::unique_ptr<Hold> hold(PoolBlock block, std::shared_ptr<void> memory) {
    if (!holds_) holds_ = std::make_unique<BlockHolds>(returned_.capacity(), std::move(memory));
    return holds_->take(block.index);
  }

  // Takes in what the other end has given back, and what is held no more.
  void collect() {
    returned_.take_all([this](uint32_t index) {
      TAILRACE_ASSERT(ranges_.used(index));
      end(index);
      ++collected_;
    });
    if (!holds_) return;
    holds_->collect([this](uint32_t index) {
      kept_ -= ranges_.size_of(index);
      ranges_.free(index);
    });
  }

  // Returns true if the block was in use at the last collect().
  bool holds(uint32_t block) const { return ranges_.used(block); }
  uint64_t size() const { return ranges_.size(); }
  uint64_t held() const { return ranges_.held(); }   // bytes, as of the last collect()
  uint64_t kept() const { return kept_; }            // … of them, given back and held by the application
  uint64_t peak() const { return peak_; }            // bytes
  uint64_t collected() const { return collected_; }  // blocks that the other end has ever given back

 private:
  void end(uint32_t index) {
    if (!holds_ || !holds_->keeps(index)) return ranges_.free(index);
    kept_ += ranges_.size_of(index);
  }

  RangeAllocator ranges_;
  FreeStack<> returned_;
  std::unique_ptr<BlockHolds> holds_;  // none until something is held
  uint64_t kept_ = 0;
  uint64_t peak_ = 0;
  uint64_t collected_ = 0;
};

}  // namespace tailrace::impl
