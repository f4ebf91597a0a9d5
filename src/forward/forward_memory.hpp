// ForwardMemory: the memory of a forwarder, from which the data of all its clients' messages take their share.
//
// All of it is given at creation. No client may hold so much that others get nothing: see may_take(). One thread.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/assert.hpp"
#include "base/memory/range_allocator.hpp"

namespace tailrace::impl {

class ForwardMemory {
 public:
  struct Part {
    uint32_t node = 0;
    std::span<std::byte> bytes = {};
  };

  // Borrows `memory`, whose size is a multiple of the page size. At most `parts` are in use at once.
  ForwardMemory(std::span<std::byte> memory, uint32_t parts)
      : memory_(memory), ranges_(memory.size(), 2 * parts + 2) {}

  // Returns true if a client that holds `held` bytes may take `bytes` more, beside `others` clients that want some: a
  // client without any always may, another one up to its share.
  bool may_take(uint64_t held, uint64_t bytes, size_t others) const {
    return held == 0 || held + bytes <= memory_.size() / (others + 1);
  }
  // Takes a part; none: it must wait until another one is given back.
  std::optional<Part> take(uint64_t bytes) {
    const auto range = ranges_.allocate(bytes);
    if (!range) return std::nullopt;
    peak_ = std::max(peak_, ranges_.held());
    return Part{range->node, memory_.subspan(range->offset, bytes)};
  }
  void give_back(const Part& part) { ranges_.free(part.node); }

  uint64_t held() const { return ranges_.held(); }
  uint64_t peak() const { return peak_; }
  uint64_t size() const { return memory_.size(); }

 private:
  const std::span<std::byte> memory_;
  RangeAllocator ranges_;
  uint64_t peak_ = 0;
};

}  // namespace tailrace::impl
