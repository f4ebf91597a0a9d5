#include "engine/merge/merge.hpp"

#include <algorithm>
#include <utility>

namespace tailrace::impl {
namespace {

// How far a share has been taken.
struct Cursor {
  const Request* request = nullptr;
  const Piece* next = nullptr;
  const Piece* end = nullptr;
};

// Whether `a` comes after `b`: of a heap by this, the first is on top.
bool follows(const Cursor& a, const Cursor& b) {
  if (a.request->file != b.request->file) return a.request->file > b.request->file;
  if (a.request->operation != b.request->operation) return a.request->operation > b.request->operation;
  return a.next->extent.offset > b.next->extent.offset;
}

// Calls each(part) for the parts of all shares in order. Each share is in order by itself, so the next is the first
// of one of them.
template <class Each>
void in_order(std::span<const Share> shares, Each each) {
  std::vector<Cursor> heap;
  heap.reserve(shares.size());
  for (const Share& share : shares) {
    if (share.pieces.empty()) continue;
    heap.push_back({share.request, share.pieces.data(), share.pieces.data() + share.pieces.size()});
  }
  std::make_heap(heap.begin(), heap.end(), follows);
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), follows);
    Cursor& first = heap.back();
    do {
      each(Access::Part{first.request, *first.next});
      ++first.next;
    } while (first.next != first.end && (heap.size() == 1 || !follows(first, heap.front())));
    if (first.next == first.end) {
      heap.pop_back();
    } else {
      std::push_heap(heap.begin(), heap.end(), follows);
    }
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
