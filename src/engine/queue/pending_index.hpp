// PendingIndex: the bytes of one file that unfinished requests touch: their last writer, and the readers since then.
// The queue looks up here which requests a new one must wait for, may take bytes over from or can be served from.
//
// It is a sorted list of runs in two levels: blocks of at most kBlock runs, in a list and in a map. Going through a
// sorted list of extents costs a few steps per extent, whatever else is pending; a single extent costs O(log n). It
// knows slots, and nothing else of requests.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include "engine/queue/reader_sets.hpp"
#include "model/request.hpp"

namespace tailrace::impl {

class PendingIndex {
 public:
  static constexpr uint32_t kNobody = UINT32_MAX;

  // A run of bytes that the same requests touch.
  struct Run {
    uint64_t offset = 0;
    uint64_t end = 0;
    std::byte* memory = nullptr;                  // the writer's memory
    uint32_t writer = kNobody;                    // the last request that writes the run
    ReaderSets::Id readers = ReaderSets::kEmpty;  // requests that read it after that
  };

  PendingIndex();

  // Makes `slot` the last writer of `pieces` (in order, without overlaps). Calls found(extent, run) for each part
  // that others touch, with the run as it was before.
  template <class Found>
  void write(std::span<const Piece> pieces, uint32_t slot, Found found) {
    Place place = first();
    for (const Piece& piece : pieces) write(place, piece, slot, found);
  }

  // Makes `slot` a reader of `pieces`. Calls found(extent, run) for each part that others touch; if that returns
  // true, the part is served and gets no reader. Calls unserved(extent) for the rest, in order.
  template <class Found, class Unserved>
  void read(std::span<const Piece> pieces, uint32_t slot, Found found, Unserved unserved) {
    Place place = first();
    for (const Piece& piece : pieces) read(place, piece.extent, slot, found, unserved);
  }

  // Removes `slot` from `pieces`.
  void forget(std::span<const Piece> pieces, uint32_t slot);

  // Returns true if no request touches a byte of the extent.
  bool is_free(const Extent& extent) {
    Place place = first();
    seek(place, extent.offset);
    const Run* const next = run(place);
    return next == nullptr || next->offset >= extent.end();
  }

  const ReaderSets& readers() const { return readers_; }
  bool empty() const { return blocks_.size() == 1 && blocks_.begin()->second->count == 0; }

 private:
  static constexpr uint32_t kBlock = 32;
  static constexpr int kHops = 6;  // up to this distance, walking to a block is cheaper than asking the map
  // The first block always exists; the others are not empty.
  struct Block {
    Block* before = nullptr;
    Block* after = nullptr;
    uint64_t begin = 0;         // its runs begin at or after this …
    uint64_t end = UINT64_MAX;  // … and before this, the beginning of the next block
    uint32_t count = 0;
    std::array<Run, kBlock> runs;
  };
  struct Place {
    Block* block = nullptr;
    uint32_t at = 0;
  };

  Place first() { return {blocks_.begin()->second.get(), 0}; }
  // Returns the block for runs from `offset` on.
  Block* block_for(uint64_t offset) { return std::prev(blocks_.upper_bound(offset))->second.get(); }
  Block* add_after(Block& block, uint64_t begin);
  void remove(Block& block);
  // Returns the run at the place, or null at the end of the list.
  Run* run(Place& place);
  // Moves to the first run that ends after `offset`.
  void seek(Place& place, uint64_t offset);
  // Inserts a run before the place, and moves past it.
  void insert(Place& place, const Run& run);
  // Removes the run at the place, which then refers to the next.
  void erase(Place& place);
  // Removes the runs that no request touches any more.
  void sweep(Block& block);
  // Splits the run at the place at `offset`, which lies within it; the place then refers to the second part.
  void split(Place& place, uint64_t offset);
  // Adds a reader to the run at the place, which contains `extent`. Moves the place behind the extent.
  void add_reader(Place& place, const Extent& extent, uint32_t slot);
  // Returns the rest of a run from `offset` on.
  static Run from(Run run, uint64_t offset);

  template <class Found>
  void write(Place& place, const Piece& piece, uint32_t slot, Found& found);
  template <class Found, class Unserved>
  void read(Place& place, const Extent& extent, uint32_t slot, Found& found, Unserved& unserved);

  std::map<uint64_t, std::unique_ptr<Block>> blocks_;  // by begin
  ReaderSets readers_;
};

template <class Found>
void PendingIndex::write(Place& place, const Piece& piece, uint32_t slot, Found& found) {
  const uint64_t begin = piece.extent.offset;
  const uint64_t end = piece.extent.end();
  Run rest;  // of a run that extends past the piece
  seek(place, begin);
  while (Run* other = run(place)) {
    if (other->offset >= end) break;
    if (other->offset < begin) {
      split(place, begin);
      other = run(place);
    }
    const Run was = *other;
    found(Extent{was.offset, std::min(was.end, end) - was.offset}, was);
    erase(place);
    if (was.end > end) {
      rest = from(was, end);
    } else {
      readers_.drop(was.readers);
    }
  }
  insert(place, {begin, end, piece.memory, slot, ReaderSets::kEmpty});
  if (rest.end > 0) insert(place, rest);
}

template <class Found, class Unserved>
void PendingIndex::read(Place& place, const Extent& extent, uint32_t slot, Found& found, Unserved& unserved) {
  uint64_t at = extent.offset;
  seek(place, at);
  while (at < extent.end()) {
    const Run* other = run(place);
    const uint64_t gap_end = other != nullptr ? std::min(other->offset, extent.end()) : extent.end();
    if (at < gap_end) {
      unserved(Extent{at, gap_end - at});
      insert(place, {at, gap_end, nullptr, kNobody, readers_.with(ReaderSets::kEmpty, slot)});
      at = gap_end;
      continue;
    }
    const uint64_t to = std::min(other->end, extent.end());
    if (found(Extent{at, to - at}, *other)) {
      ++place.at;
    } else {
      unserved(Extent{at, to - at});
      add_reader(place, {at, to - at}, slot);
    }
    at = to;
  }
}

}  // namespace tailrace::impl
