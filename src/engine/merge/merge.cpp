#include "engine/merge/merge.hpp"

#include <algorithm>
#include <utility>

namespace tailrace::impl {
namespace {

// How far a share has been taken.
struct Cursor {
  uint64_t offset = 0;  // of `next`
  const Piece* next = nullptr;
  const Piece* end = nullptr;
  const Request* request = nullptr;

  bool together_with(const Cursor& other) const {
    return request->file == other.request->file && request->operation == other.request->operation;
  }
};

bool is_of_earlier_access(const Cursor& a, const Cursor& b) {
  if (a.request->file != b.request->file) return a.request->file < b.request->file;
  return a.request->operation < b.request->operation;
}

// Of a heap by this, the first is in front.
bool follows(const Cursor& a, const Cursor& b) { return a.offset > b.offset; }

// Puts the front of the heap, which has changed, where it belongs.
void sift_down(std::span<Cursor> heap) {
  size_t at = 0;
  for (;;) {
    size_t next = 2 * at + 1;
    if (next >= heap.size()) return;
    if (next + 1 < heap.size() && follows(heap[next], heap[next + 1])) ++next;
    if (!follows(heap[at], heap[next])) return;
    std::swap(heap[at], heap[next]);
    at = next;
  }
}

// Calls each(part) for what is left of the shares, in order of offset. Each is in order by itself, so the
// next is the first of one of them.
template <class Each>
void in_order(std::span<Cursor> shares, Each& each) {
  std::make_heap(shares.begin(), shares.end(), follows);
  while (!shares.empty()) {
    Cursor& first = shares.front();
    each(Access::Part{first.request, *first.next});
    if (++first.next != first.end) {
      first.offset = first.next->extent.offset;
    } else {
      first = shares.back();
      shares = shares.first(shares.size() - 1);
    }
    sift_down(shares);
  }
}

// The same for all shares: by file, operation and offset.
template <class Each>
void in_order(std::span<const Share> shares, Each each) {
  std::vector<Cursor> all;
  all.reserve(shares.size());
  for (const auto& [request, pieces] : shares) {
    if (pieces.empty()) continue;
    all.push_back({pieces.front().extent.offset, pieces.data(), pieces.data() + pieces.size(), request});
  }
  std::sort(all.begin(), all.end(), is_of_earlier_access);
  for (auto group = all.begin(); group != all.end();) {
    const auto end = std::find_if(group, all.end(), [&](const Cursor& one) { return !one.together_with(*group); });
    in_order(std::span<Cursor>(group, end), each);
    group = end;
  }
}

// Where an access that begins at `offset` ends at the latest, if it is joined.
uint64_t latest_end(uint64_t offset, const MergeLimits& limits) {
  const uint64_t end = offset + limits.largest;
  if (limits.alignment == 0) return end;
  const uint64_t aligned = end - end % limits.alignment;
  return aligned > offset ? aligned : end;
}

bool in_one_memory(const iovec& segment, const Piece& piece) {
  return static_cast<std::byte*>(segment.iov_base) + segment.iov_len == piece.memory;
}

// How many bytes of the part, from its first, go on where the access ends.
uint64_t joinable(const Access& access, const Access::Part& part, const MergeLimits& limits) {
  const Extent& extent = part.piece.extent;
  if (access.extent.end() != extent.offset || access.file != part.request->file) return 0;
  if (access.operation != part.request->operation || extent.length >= limits.largest) return 0;
  const bool room = access.segments.size() < limits.max_segments;
  if (!room && !in_one_memory(access.segments.back(), part.piece)) return 0;
  const uint64_t latest = latest_end(access.extent.offset, limits);
  if (extent.end() <= latest) return extent.length;
  return limits.alignment > 0 && extent.offset < latest ? latest - extent.offset : 0;
}

void append(Access& access, const Access::Part& part) {
  const Piece& piece = part.piece;
  access.extent.length += piece.extent.length;
  if (in_one_memory(access.segments.back(), piece)) {
    access.segments.back().iov_len += piece.extent.length;
  } else {
    access.segments.push_back({piece.memory, piece.extent.length});
  }
  access.parts.push_back(part);
}

}  // namespace

std::vector<Access> merge(std::span<const Share> shares, const MergeLimits& limits) {
  std::vector<Access> accesses;
  in_order(shares, [&](Access::Part part) {
    const uint64_t length = accesses.empty() ? 0 : joinable(accesses.back(), part, limits);
    if (length > 0) {
      Access::Part head = part;
      head.piece.extent.length = length;
      append(accesses.back(), head);
      part.piece.extent = {part.piece.extent.offset + length, part.piece.extent.length - length};
      part.piece.memory += length;
    }
    if (part.piece.extent.length > 0) accesses.push_back(access_of(part));
  });
  return accesses;
}

}  // namespace tailrace::impl
