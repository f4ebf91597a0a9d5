#include "collective/write/aggregator.hpp"

#include <algorithm>
#include <utility>

namespace tailrace::collective {

Aggregator::Aggregator(size_t members, uint64_t cycle_bytes, bool is_static)
    : cycle_bytes_(std::max<uint64_t>(cycle_bytes, 1)),
      is_static_(is_static),
      members_(members),
      waiting_(members),
      unfinished_(members) {}

void Aggregator::take(size_t index, Message message) {
  Member& member = members_[index];
  member.parts.emplace_back(std::move(message));
  member.last_came = member.parts.back().is_last();
  if (!is_static_ && member.parts.size() == 1 && enter(index)) --waiting_;
}

bool Aggregator::advance() {
  if (std::exchange(is_given_, false)) {
    cycle_.extents.clear();
    cycle_.bytes.clear();
  }
  is_given_ = is_static_ ? begin_round() && merge() : merge();
  return is_given_;
}

// A cycle of static segmentation begins when each member that has not ended has a part.
bool Aggregator::begin_round() {
  if (in_round_) return true;
  for (const Member& member : members_) {
    if (!member.ended && member.parts.empty()) return false;
  }
  for (size_t index = 0; index < members_.size(); ++index) {
    if (!members_[index].ended) enter(index);
  }
  end_ = 0;
  in_round_ = true;
  return true;
}

// Returns true if the cycle has bytes, and no more are to come.
bool Aggregator::merge() {
  if (is_static_) {
    while (!heap_.empty()) merge_first();
    in_round_ = false;
    return !cycle_.bytes.empty();
  }
  while (waiting_ == 0 && !heap_.empty() && cycle_.bytes.size() < cycle_bytes_) merge_first();
  return !cycle_.bytes.empty() && (cycle_.bytes.size() >= cycle_bytes_ || unfinished_ == 0);
}

// Takes the member with the lowest offset, and its pieces until another member has a lower one.
void Aggregator::merge_first() {
  std::pop_heap(heap_.begin(), heap_.end());
  Next next = heap_.back();
  heap_.pop_back();
  Member& member = members_[next.member];
  do {
    use(member, member.parts.front().piece(member.piece));
    if (!move_on(next.member, next)) return;
  } while ((is_static_ || cycle_.bytes.size() < cycle_bytes_) && (heap_.empty() || heap_.front() < next));
  heap_.push_back(next);
  std::push_heap(heap_.begin(), heap_.end());
}

// Uses up the rest of a piece, or as much of it as the cycle has room for.
void Aggregator::use(Member& member, const tailrace_extent& piece) {
  uint64_t left = piece.length - member.used;
  if (!is_static_) left = std::min(left, cycle_bytes_ - cycle_.bytes.size());
  const uint64_t offset = piece.offset + member.used;
  const uint64_t overlap = offset < end_ ? std::min(left, end_ - offset) : 0;
  append(offset + overlap, member.parts.front().data() + member.read + overlap, left - overlap);
  member.used += left;
  member.read += left;
}

void Aggregator::append(uint64_t offset, const std::byte* bytes, uint64_t length) {
  if (length == 0) return;
  if (!cycle_.extents.empty() && cycle_.extents.back().offset + cycle_.extents.back().length == offset) {
    cycle_.extents.back().length += length;
  } else {
    cycle_.extents.push_back({offset, length});
  }
  cycle_.bytes.insert(cycle_.bytes.end(), bytes, bytes + length);
  end_ = offset + length;
}

// Goes on to the member's next bytes. Returns false if it has none, for now.
bool Aggregator::move_on(size_t index, Next& next) {
  Member& member = members_[index];
  tailrace_extent piece = member.parts.front().piece(member.piece);
  if (member.used == piece.length) {
    member.used = 0;
    if (++member.piece == member.parts.front().pieces()) {
      if (finish_part(index)) return false;
      if (is_static_) return false;
      if (member.parts.empty()) {
        ++waiting_;
        return false;
      }
    }
    piece = member.parts.front().piece(member.piece);
  }
  next = {piece.offset + member.used, index};
  return true;
}

// Lets go of the member's first part, and of empty ones behind it. Returns true if the member has ended.
bool Aggregator::finish_part(size_t index) {
  Member& member = members_[index];
  do {
    member.ended = member.parts.front().is_last();
    member.parts.pop_front();
    member.piece = 0;
    member.read = 0;
  } while (!member.ended && !member.parts.empty() && member.parts.front().pieces() == 0);
  if (member.ended) --unfinished_;
  return member.ended;
}

// Lets the member take part in the merging, if it has bytes. Returns false if it goes on waiting for some.
bool Aggregator::enter(size_t index) {
  Member& member = members_[index];
  if (member.parts.front().pieces() == 0) return finish_part(index);
  heap_.push_back({member.parts.front().piece(0).offset, index});
  std::push_heap(heap_.begin(), heap_.end());
  return true;
}

}  // namespace tailrace::collective
