// The two-ended pool: memory that one thread allocates from, and any thread gives back to (design §6).
//
// The owner's end is PoolOwner: book-keeping private to the owner, no locks, no system calls. The other end is the
// FreeStack: whoever has finished with a block pushes its index, and the owner takes the whole stack when it next
// allocates. Only the bytes, the links and the head of the stack need be visible to both sides; none holds a pointer,
// so that the sides may be processes that map them at different addresses.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/free_stack.hpp"
#include "base/range_allocator.hpp"

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
  void free(PoolBlock block) { ranges_.free(block.index); }

  // Takes in what the other end has given back.
  void collect() {
    returned_.take_all([this](uint32_t index) {
      TAILRACE_ASSERT(ranges_.used(index));
      ranges_.free(index);
      ++collected_;
    });
  }

  // Whether the block is in use, as of the last collect().
  bool holds(uint32_t block) const { return ranges_.used(block); }
  uint64_t size() const { return ranges_.size(); }
  uint64_t held() const { return ranges_.held(); }   // bytes, as of the last collect()
  uint64_t peak() const { return peak_; }            // bytes
  uint64_t collected() const { return collected_; }  // blocks that the other end has ever given back

 private:
  RangeAllocator ranges_;
  FreeStack<> returned_;
  uint64_t peak_ = 0;
  uint64_t collected_ = 0;
};

}  // namespace tailrace::impl
