#include "base/memory/range_allocator.hpp"

#include <bit>

#include "base/assert.hpp"

namespace tailrace::impl {

RangeAllocator::RangeAllocator(uint64_t size, uint32_t max_nodes) : size_(size), unused_count_(max_nodes) {
  TAILRACE_REQUIRE(size > 0);
  TAILRACE_REQUIRE(size % kPage == 0);
  TAILRACE_REQUIRE(max_nodes >= 4);
  lists_.fill(kNone);
  nodes_.reserve(max_nodes);
  const uint32_t whole = new_node();
  nodes_[whole].size = size;
  put_free(whole);
}

uint64_t RangeAllocator::rounded(uint64_t bytes) {
  const uint64_t unit = bytes >= kPage ? kPage : kGrain;
  return bytes == 0 ? kGrain : (bytes + unit - 1) / unit * unit;
}

std::optional<RangeAllocator::Range> RangeAllocator::allocate(uint64_t bytes) {
  if (bytes > size_) return std::nullopt;
  const uint64_t size = rounded(bytes);
  const uint64_t alignment = size >= kPage ? kPage : kGrain;
  // A range may leave a free part on each side.
  if (unused_count_ < 2) return std::nullopt;
  uint32_t node = find(size, alignment);
  if (node == kNone) return std::nullopt;
  take_free(node);
  if (const uint64_t lead = lead_of(nodes_[node], alignment); lead > 0) {
    const uint32_t body = split(node, lead);
    put_free(node);
    node = body;
  }
  if (nodes_[node].size > size) put_free(split(node, size));
  nodes_[node].state = State::used;
  held_ += size;
  TAILRACE_ASSERT(held_ <= size_);
  return Range{node, nodes_[node].offset, size};
}

bool RangeAllocator::used(uint32_t node) const { return node < nodes_.size() && nodes_[node].state == State::used; }

void RangeAllocator::free(uint32_t node) {
  TAILRACE_REQUIRE(used(node));
  TAILRACE_ASSERT(held_ >= nodes_[node].size);
  held_ -= nodes_[node].size;
  const uint32_t after = nodes_[node].after;
  if (after != kNone && nodes_[after].state == State::free) {
    take_free(after);
    join_with_after(node);
  }
  const uint32_t before = nodes_[node].before;
  if (before != kNone && nodes_[before].state == State::free) {
    take_free(before);
    join_with_after(before);
    node = before;
  }
  put_free(node);
}

// The sizes of one class differ by less than a sixteenth.
unsigned RangeAllocator::class_of(uint64_t size) {
  const unsigned first = static_cast<unsigned>(std::bit_width(size)) - 1;
  const uint64_t rest = first >= kSecond ? size >> (first - kSecond) : size << (kSecond - first);
  return (first << kSecond) + static_cast<unsigned>(rest & ((1u << kSecond) - 1));
}

uint64_t RangeAllocator::lead_of(const Node& node, uint64_t alignment) {
  const uint64_t over = node.offset % alignment;
  return over == 0 ? 0 : alignment - over;
}

uint32_t RangeAllocator::find_in_class(unsigned index, uint64_t size, uint64_t alignment) const {
  uint32_t node = lists_[index];
  for (int tries = 0; node != kNone && tries < kTries; ++tries, node = nodes_[node].next) {
    if (nodes_[node].size >= lead_of(nodes_[node], alignment) + size) return node;
  }
  return kNone;
}

// The class of `size` itself may hold ranges that are slightly too small; ranges of higher classes fit, unless
// alignment prevents it.
uint32_t RangeAllocator::find(uint64_t size, uint64_t alignment) const {
  for (unsigned index = class_of(size); index < kClasses; ++index) {
    const uint64_t rest = filled_[index / 64] >> (index % 64);
    if (rest == 0) {
      index |= 63;  // no further class in this word
      continue;
    }
    index += static_cast<unsigned>(std::countr_zero(rest));
    if (const uint32_t node = find_in_class(index, size, alignment); node != kNone) return node;
  }
  return kNone;
}

void RangeAllocator::put_free(uint32_t node) {
  const unsigned index = class_of(nodes_[node].size);
  nodes_[node].state = State::free;
  nodes_[node].previous = kNone;
  nodes_[node].next = lists_[index];
  if (lists_[index] != kNone) nodes_[lists_[index]].previous = node;
  lists_[index] = node;
  filled_[index / 64] |= uint64_t{1} << (index % 64);
}

void RangeAllocator::take_free(uint32_t node) {
  TAILRACE_ASSERT(nodes_[node].state == State::free);
  const unsigned index = class_of(nodes_[node].size);
  const uint32_t previous = nodes_[node].previous;
  const uint32_t next = nodes_[node].next;
  if (previous != kNone) nodes_[previous].next = next;
  if (next != kNone) nodes_[next].previous = previous;
  if (lists_[index] == node) lists_[index] = next;
  if (lists_[index] == kNone) filled_[index / 64] &= ~(uint64_t{1} << (index % 64));
}

uint32_t RangeAllocator::new_node() {
  TAILRACE_ASSERT(unused_count_ > 0);
  --unused_count_;
  if (unused_ == kNone) {
    TAILRACE_ASSERT(nodes_.size() < nodes_.capacity());
    nodes_.emplace_back();
    return static_cast<uint32_t>(nodes_.size() - 1);
  }
  const uint32_t node = unused_;
  unused_ = nodes_[node].next;
  nodes_[node] = Node{};
  return node;
}

void RangeAllocator::retire(uint32_t node) {
  nodes_[node] = Node{};
  nodes_[node].next = unused_;
  unused_ = node;
  ++unused_count_;
}

uint32_t RangeAllocator::split(uint32_t node, uint64_t size) {
  TAILRACE_ASSERT(size < nodes_[node].size);
  const uint32_t rest = new_node();
  nodes_[rest].offset = nodes_[node].offset + size;
  nodes_[rest].size = nodes_[node].size - size;
  nodes_[rest].state = nodes_[node].state;
  nodes_[rest].before = node;
  nodes_[rest].after = nodes_[node].after;
  if (nodes_[rest].after != kNone) nodes_[nodes_[rest].after].before = rest;
  nodes_[node].size = size;
  nodes_[node].after = rest;
  return rest;
}

void RangeAllocator::join_with_after(uint32_t node) {
  const uint32_t gone = nodes_[node].after;
  TAILRACE_ASSERT(gone != kNone);
  nodes_[node].size += nodes_[gone].size;
  nodes_[node].after = nodes_[gone].after;
  if (nodes_[node].after != kNone) nodes_[nodes_[node].after].before = node;
  retire(gone);
}

}  // namespace tailrace::impl
