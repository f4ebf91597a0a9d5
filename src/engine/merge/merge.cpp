#include "engine/merge/merge.hpp"

#include <algorithm>
#include <utility>

namespace tailrace::impl {
namespace {

// The progress through a share.
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

// Orders a heap: the cursor with the least offset is in front.
bool follows(const Cursor& a, const Cursor& b) { return a.offset > b.offset; }

// Restores the heap after its front has changed.
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

// Calls each(request, piece) for the rest of the shares, in order of offset. Each share is in order, so the next
// piece is the first of one of them.
template <class Each>
void in_order(std::span<Cursor> shares, Each& each) {
  std::make_heap(shares.begin(), shares.end(), follows);
  while (!shares.empty()) {
    Cursor& first = shares.front();
    each(*first.request, *first.next);
    if (++first.next != first.end) {
      first.offset = first.next->extent.offset;
    } else {
      first = shares.back();
      shares = shares.first(shares.size() - 1);
    }
    sift_down(shares);
  }
}

// Visits the pieces of all shares by file, operation and offset.
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

// Returns the latest end of a joined access that begins at `offset`.
uint64_t latest_end(uint64_t offset, const MergeLimits& limits) {
  const uint64_t end = offset + limits.largest;
  if (limits.alignment == 0) return end;
  const uint64_t aligned = end - end % limits.alignment;
  return aligned > offset ? aligned : end;
}

bool in_one_memory(const iovec& segment, const Piece& piece) {
  if (segment.iov_base == nullptr) return false;
  return static_cast<std::byte*>(segment.iov_base) + segment.iov_len == piece.memory;
}

// Returns true if reading `length` more bytes behind a hole is worth the bytes of the hole.
bool may_sieve(const Access& access, uint64_t hole, uint64_t length, const MergeLimits& limits) {
  if (access.operation != Operation::read || hole > limits.sieve) return false;
  const uint64_t all = access.extent.length + hole + length;
  return static_cast<double>(access.holes + hole) <= limits.waste * static_cast<double>(all);
}

// Returns true if the write is, or becomes, a scattered one. `run`: the bytes behind its last hole.
bool may_scatter(const Access& access, uint64_t run, uint64_t hole, uint64_t length, const MergeLimits& limits) {
  if (access.operation != Operation::write || hole > limits.scatter) return false;
  return length <= limits.scatter_piece && (hole == 0 ? run + length : run) <= limits.scatter_run;
}

// Returns how many bytes of the piece, from its first, continue the access, directly or behind a small hole. `run`:
// the bytes behind the access's last hole.
uint64_t joinable(const Access& access, uint64_t run, const Request& request, const Piece& piece,
                  const MergeLimits& limits) {
  const Extent& extent = piece.extent;
  if (extent.offset < access.extent.end() || access.file != request.file) return 0;
  if (access.operation != request.operation || extent.length >= limits.largest) return 0;
  const uint64_t latest = latest_end(access.extent.offset, limits);
  const bool cut = limits.alignment > 0 && extent.offset < latest && extent.end() > latest;
  if (extent.end() > latest && !cut) return 0;
  const uint64_t length = cut ? latest - extent.offset : extent.length;
  const uint64_t hole = extent.offset - access.extent.end();
  const bool one_memory = hole == 0 && in_one_memory(access.segments.back(), piece);
  const size_t segments = access.segments.size() + (hole > 0 ? 2 : one_memory ? 0 : 1);
  const bool has_holes = hole > 0 || access.holes > 0;
  if (has_holes && access.operation == Operation::write) {
    return segments <= limits.scatter_segments && may_scatter(access, run, hole, length, limits) ? length : 0;
  }
  if (segments > limits.max_segments) return 0;
  return hole == 0 || may_sieve(access, hole, length, limits) ? length : 0;
}

void append(Access& access, const Request& request, const Piece& piece) {
  const uint64_t length = piece.extent.length;
  const uint64_t hole = piece.extent.offset - access.extent.end();
  if (hole > 0) {
    access.segments.push_back({nullptr, hole});
    access.parts.push_back({nullptr, hole});
    access.holes += hole;
  }
  if (in_one_memory(access.segments.back(), piece)) {
    access.segments.back().iov_len += length;
  } else {
    access.segments.push_back({piece.memory, length});
  }
  access.parts.push_back({&request, length});
  access.extent.length += hole + length;
}

// Appends the runs between the holes of a write to `accesses`, each as an access of its own.
void split_at_holes(const Access& access, const MergeLimits& limits, std::vector<Access>& accesses) {
  const size_t first = accesses.size();
  for (Access& part : taken_apart(access)) {
    const bool follows = accesses.size() > first && accesses.back().extent.end() == part.extent.offset;
    if (follows && accesses.back().segments.size() < limits.max_segments) {
      auto* const memory = static_cast<std::byte*>(part.segments[0].iov_base);
      append(accesses.back(), *part.parts[0].request, {part.extent, memory});
    } else {
      accesses.push_back(std::move(part));
    }
  }
}

// Splits the last access if it is a write with few holes.
void end_last(std::vector<Access>& accesses, const MergeLimits& limits) {
  if (accesses.empty() || accesses.back().operation != Operation::write || accesses.back().holes == 0) return;
  const auto is_hole = [](const Access::Part& part) { return part.request == nullptr; };
  const auto& parts = accesses.back().parts;
  if (std::count_if(parts.begin(), parts.end(), is_hole) >= limits.scatter_from) return;
  const Access few = std::move(accesses.back());
  accesses.pop_back();
  split_at_holes(few, limits, accesses);
}

}  // namespace

std::vector<Access> merge(std::span<const Share> shares, const MergeLimits& limits) {
  std::vector<Access> accesses;
  uint64_t run = 0;  // bytes of the last access behind its last hole
  in_order(shares, [&](const Request& request, Piece piece) {
    const uint64_t length = accesses.empty() ? 0 : joinable(accesses.back(), run, request, piece, limits);
    if (length > 0) {
      run = piece.extent.offset > accesses.back().extent.end() ? length : run + length;
      append(accesses.back(), request, {{piece.extent.offset, length}, piece.memory});
      piece.extent = {piece.extent.offset + length, piece.extent.length - length};
      piece.memory += length;
    }
    if (piece.extent.length == 0) return;
    end_last(accesses, limits);
    accesses.push_back(access_of(request, piece));
    run = piece.extent.length;
  });
  end_last(accesses, limits);
  return accesses;
}

}  // namespace tailrace::impl
