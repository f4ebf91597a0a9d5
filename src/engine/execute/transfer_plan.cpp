#include "engine/execute/transfer_plan.hpp"

#include <algorithm>

namespace tailrace::impl {
namespace {

// The position of a file offset in the access's memory.
struct Cursor {
  size_t segment = 0;
  uint64_t within = 0;
};

Cursor cursor_at(const Access& access, uint64_t offset) {
  Cursor cursor;
  uint64_t skip = offset - access.extent.offset;
  while (skip >= access.segments[cursor.segment].iov_len) {
    skip -= access.segments[cursor.segment].iov_len;
    ++cursor.segment;
    TAILRACE_ASSERT(cursor.segment < access.segments.size());
  }
  cursor.within = skip;
  return cursor;
}

// Walks along the memory of an access, from a file offset to the end of a range.
class Walk {
 public:
  Walk(const Access& access, const Extent& range)
      : access_(access), at_(cursor_at(access, range.offset)), offset_(range.offset), end_(range.end()) {}

  bool done() const { return offset_ == end_; }
  uint64_t offset() const { return offset_; }
  size_t segment() const { return at_.segment; }
  // Returns the memory at the present position, up to the end of the segment or of the range.
  std::byte* memory() const {
    auto* const begin = static_cast<std::byte*>(access_.segments[at_.segment].iov_base);
    return begin == nullptr ? nullptr : begin + at_.within;
  }
  uint64_t run() const { return std::min(access_.segments[at_.segment].iov_len - at_.within, end_ - offset_); }
  // Advances by at most run() bytes.
  void pass(uint64_t bytes) {
    offset_ += bytes;
    at_.within += bytes;
    if (at_.within < access_.segments[at_.segment].iov_len) return;
    ++at_.segment;
    at_.within = 0;
  }

 private:
  const Access& access_;
  Cursor at_;
  uint64_t offset_;
  const uint64_t end_;
};

// A sequence of segments whose memory and file offsets are equal modulo the alignment, and that meet at its
// multiples.
struct Stretch {
  uint64_t length = 0;
  uint32_t segments = 0;
  size_t end_segment = 0;  // the first segment of the next stretch
};

Stretch stretch_from(Walk walk, const TransferLimits& limits) {
  const uint64_t alignment = limits.direct_alignment;
  const uint64_t enough = std::max(limits.largest, limits.direct_from) + alignment;
  const size_t first = walk.segment();
  Stretch stretch;
  for (; stretch.segments < limits.max_segments && stretch.length < enough && !walk.done(); ++stretch.segments) {
    if (walk.memory() == nullptr) break;
    if (reinterpret_cast<uintptr_t>(walk.memory()) % alignment != walk.offset() % alignment) break;
    if (stretch.segments > 0 && walk.offset() % alignment != 0) break;
    stretch.length += walk.run();
    walk.pass(walk.run());
  }
  stretch.end_segment = std::max(walk.segment(), first + 1);
  return stretch;
}

// Appends the next `bytes` of the walk to a transfer.
void take(PlannedTransfer& transfer, Walk& walk, uint64_t bytes) {
  while (bytes > 0) {
    const uint64_t length = std::min(walk.run(), bytes);
    transfer.segments.push_back({walk.memory(), length});
    transfer.extent.length += length;
    bytes -= length;
    walk.pass(length);
  }
}

// Plans the first transfer of a stretch that is worth a direct transfer.
PlannedTransfer plan_stretch(Walk walk, uint64_t length, const TransferLimits& limits) {
  const uint64_t alignment = limits.direct_alignment;
  const uint64_t over = walk.offset() % alignment;
  PlannedTransfer transfer;
  transfer.extent.offset = walk.offset();
  transfer.direct = over == 0;
  take(transfer, walk,
       over != 0 ? std::min(alignment - over, walk.run())  // the ragged head
                 : std::min(length - length % alignment, limits.largest));
  return transfer;
}

// The next segments, as far as they could be copied into an aligned buffer: up to one that needs none.
struct Gathering {
  uint64_t bytes = 0;      // 0: copying them is not worth it
  size_t end_segment = 0;  // from none before this one on is it worth it then
};

Gathering gathering_from(Walk walk, const TransferLimits& limits) {
  const uint64_t alignment = limits.direct_alignment;
  if (limits.bounce == 0) return {0, SIZE_MAX};
  const uint64_t enough = limits.bounce + alignment;
  const size_t first = walk.segment();
  uint64_t bytes = 0;
  for (uint32_t segments = 0; segments < limits.max_segments && bytes < enough && !walk.done(); ++segments) {
    const bool aligned = reinterpret_cast<uintptr_t>(walk.memory()) % alignment == walk.offset() % alignment;
    if (walk.memory() == nullptr || (aligned && walk.run() >= limits.direct_from + alignment)) break;
    bytes += walk.run();
    walk.pass(walk.run());
  }
  return {bytes >= limits.direct_from + alignment ? bytes : 0, std::max(walk.segment(), first + 1)};
}

PlannedTransfer plan_bounce(Walk walk, uint64_t bytes, const TransferLimits& limits) {
  const uint64_t alignment = limits.direct_alignment;
  const uint64_t over = walk.offset() % alignment;
  PlannedTransfer transfer;
  transfer.extent.offset = walk.offset();
  transfer.direct = transfer.bounced = over == 0;
  take(transfer, walk,
       over != 0 ? alignment - over  // the ragged head
                 : std::min({bytes - bytes % alignment, limits.bounce, limits.largest}));
  return transfer;
}

// Plans the first transfer of a write with holes.
PlannedTransfer plan_scattered(Walk walk, const TransferLimits& limits) {
  PlannedTransfer transfer;
  transfer.extent.offset = walk.offset();
  transfer.scattered = true;
  while (!walk.done() && transfer.segments.size() < limits.scatter_segments &&
         transfer.extent.length < limits.largest) {
    take(transfer, walk, std::min(walk.run(), limits.largest - transfer.extent.length));
  }
  return transfer;
}

bool is_fine(const Stretch& stretch, const TransferLimits& limits) {
  return stretch.length < stretch.segments * limits.least_segment;
}

}  // namespace

PlannedTransfer next_transfer(const Access& access, const Extent& range, const TransferLimits& limits) {
  TAILRACE_REQUIRE(range.length > 0);
  TAILRACE_REQUIRE(range.offset >= access.extent.offset);
  TAILRACE_REQUIRE(range.end() <= access.extent.end());
  Walk walk(access, range);
  if (access.holes > 0 && access.operation == Operation::write) return plan_scattered(walk, limits);
  PlannedTransfer transfer;
  transfer.extent.offset = range.offset;
  const uint64_t largest = std::min(limits.largest, limits.largest_cached);
  size_t looked_at = limits.direct_alignment > 0 ? 0 : SIZE_MAX;  // no stretch begins before this segment
  size_t gathered_at = 0;                                         // no gathering begins before this segment
  while (!walk.done() && transfer.segments.size() < limits.max_segments) {
    if (walk.segment() >= looked_at) {
      const Stretch stretch = stretch_from(walk, limits);
      const bool is_long = stretch.length >= std::max<uint64_t>(limits.direct_from, limits.direct_alignment);
      uint64_t bounced = 0;
      if (walk.segment() >= gathered_at && (!is_long || is_fine(stretch, limits))) {
        const Gathering gathering = gathering_from(walk, limits);
        bounced = gathering.bytes;
        gathered_at = gathering.end_segment;
      }
      if ((is_long || bounced > 0) && !transfer.segments.empty()) return transfer;
      // Each of these gets a transfer of its own.
      if (bounced > 0) return plan_bounce(walk, bounced, limits);
      if (is_long) return plan_stretch(walk, stretch.length, limits);
      looked_at = stretch.end_segment;
    }
    take(transfer, walk, std::min(walk.run(), largest - transfer.extent.length));
    if (transfer.extent.length == largest) break;
  }
  TAILRACE_ASSERT(transfer.extent.length > 0);
  return transfer;
}

}  // namespace tailrace::impl
