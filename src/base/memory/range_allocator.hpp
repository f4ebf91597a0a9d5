// RangeAllocator: divides [0, size) into free and used ranges. Two-level segregated fit (Masmano et al., TLSF, 2004):
// constant time for all sizes.
//
// It is the book-keeping of a pool's owner: private to one thread, never in shared memory. It never touches the
// memory that it divides. The constructor allocates the memory of all nodes; nothing is allocated later. A node is
// constructed when it is first needed, so that a new allocator touches next to none of that memory.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace tailrace::impl {

class RangeAllocator {
 public:
  static constexpr uint64_t kGrain = 64;   // a cache line; sizes and offsets are multiples of it
  static constexpr uint64_t kPage = 4096;  // ranges of a page or more are aligned to pages

  struct Range {
    uint32_t node;  // the range's name for free(); below max_nodes
    uint64_t offset;
    uint64_t size;  // the requested size, rounded up
  };

  // `size` is a multiple of kPage. There are at most `max_nodes` ranges, free and used together.
  RangeAllocator(uint64_t size, uint32_t max_nodes);

  // Returns the size that a block of `bytes` takes: rounded up to cache lines, or to pages from one page on.
  static uint64_t rounded(uint64_t bytes);

  // Returns a range of rounded(bytes), or none if none is free now. Finds any size up to `size` when all is free.
  std::optional<Range> allocate(uint64_t bytes);

  // Returns true if `node` is a used range.
  bool used(uint32_t node) const;
  // Returns the size of a used range.
  uint64_t size_of(uint32_t node) const { return nodes_[node].size; }
  // Gives a used range back.
  void free(uint32_t node);

  uint64_t held() const { return held_; }
  uint64_t size() const { return size_; }

 private:
  static constexpr uint32_t kNone = 0xffffffffu;
  static constexpr unsigned kSecond = 4;  // log2 of the classes between two powers of two
  static constexpr unsigned kClasses = 64u << kSecond;
  static constexpr int kTries = 8;  // nodes tried in one class

  enum class State : uint8_t { unused, free, used };
  struct Node {
    uint64_t offset = 0;
    uint64_t size = 0;
    uint32_t before = kNone, after = kNone;   // neighbours by offset
    uint32_t previous = kNone, next = kNone;  // in the free list of the class, or of unused nodes (next)
    State state = State::unused;
  };

  static unsigned class_of(uint64_t size);
  static uint64_t lead_of(const Node& node, uint64_t alignment);
  uint32_t find(uint64_t size, uint64_t alignment) const;
  uint32_t find_in_class(unsigned index, uint64_t size, uint64_t alignment) const;
  void put_free(uint32_t node);
  void take_free(uint32_t node);
  uint32_t new_node();
  void retire(uint32_t node);
  // Cuts `node` after `size` bytes; the rest becomes a new node behind it, in the same state.
  uint32_t split(uint32_t node, uint64_t size);
  void join_with_after(uint32_t node);

  const uint64_t size_;
  uint64_t held_ = 0;
  uint32_t unused_ = kNone;    // nodes that were needed earlier
  uint32_t unused_count_ = 0;  // … and those that were never needed
  std::vector<Node> nodes_;
  std::array<uint32_t, kClasses> lists_;
  std::array<uint64_t, kClasses / 64> filled_{};  // one bit per class that has free ranges
};

}  // namespace tailrace::impl
