// The two-ended pool: one thread allocates its blocks, and any thread gives them back (docs/decisions/001).
//
// PoolOwner is the owner's end: private book-keeping, no locks, no system calls. FreeStack is the other end: a thread
// that has finished with a block pushes its index, and the owner takes the whole stack at its next allocation. Both
// sides see only the bytes, the links and the head of the stack. None of these holds a pointer, so the sides may be
// processes that map them at different addresses.
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
  uint32_t index = kNoBlock;  // the block's name on the free stack
  uint64_t offset = 0;        // from the start of the pool's bytes
};

class PoolOwner {
 public:
  // Manages `size` bytes (a multiple of the page) in at most as many blocks as `returned` has links.
  PoolOwner(uint64_t size, FreeStack<> returned) : ranges_(size, returned.capacity()), returned_(returned) {}

  // Returns a block of at least `bytes`, or none if none is free now. Blocks are aligned to cache lines, and to pages
  // from one page on.
  std::optional<PoolBlock> allocate(uint64_t bytes) {
    collect();
    const auto range = ranges_.allocate(bytes);
    if (!range) return std::nullopt;
    peak_ = std::max(peak_, ranges_.held());
    return PoolBlock{range->node, range->offset};
  }

  // Gives back a block that never left the owner.
  void free(PoolBlock block) { end(block.index); }

  // Keeps a block and its contents until the hold ends, even if the block is given back before. The first hold takes
  // `memory`, which keeps the pool's bytes mapped for all holds. Null if there are too many holds. Allocates.
  std::unique_ptr<Hold> hold(PoolBlock block, std::shared_ptr<void> memory) {
    if (!holds_) holds_ = std::make_unique<BlockHolds>(returned_.capacity(), std::move(memory));
    return holds_->take(block.index);
  }

  // Collects the blocks that the other end has given back, and those whose holds have ended.
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
  uint64_t kept() const { return kept_; }            // of those, bytes given back and still held by the application
  uint64_t peak() const { return peak_; }            // bytes
  uint64_t collected() const { return collected_; }  // blocks that the other end has given back so far

 private:
  void end(uint32_t index) {
    if (!holds_ || !holds_->keeps(index)) return ranges_.free(index);
    kept_ += ranges_.size_of(index);
  }

  RangeAllocator ranges_;
  FreeStack<> returned_;
  std::unique_ptr<BlockHolds> holds_;  // null until the first hold
  uint64_t kept_ = 0;
  uint64_t peak_ = 0;
  uint64_t collected_ = 0;
};

}  // namespace tailrace::impl
