#include "engine/queue/pending_index.hpp"

#include <iterator>

namespace tailrace::impl {

PendingIndex::Run* PendingIndex::run(Place& place) {
  while (place.at >= place.block->second.count) {
    const auto next = std::next(place.block);
    if (next == blocks_.end()) return nullptr;
    place = {next, 0};
  }
  return &place.block->second.runs[place.at];
}

void PendingIndex::seek(Place& place, uint64_t offset) {
  // Lists mostly come in order, so the block is this one or the next.
  for (int tries = 0;; ++tries) {
    const auto next = std::next(place.block);
    const bool after = next != blocks_.end() && offset >= next->first;
    if (!after && offset >= place.block->first) break;
    place = {after && tries == 0 ? next : std::prev(blocks_.upper_bound(offset)), 0};
  }
  const Block& block = place.block->second;
  const auto begin = block.runs.begin();
  const bool passed = place.at > 0 && place.at <= block.count && block.runs[place.at - 1].end <= offset;
  const auto from_here = begin + (passed ? place.at : 0);
  const auto end = begin + block.count;
  if (from_here == end || from_here->end > offset) {
    place.at = static_cast<uint32_t>(from_here - begin);
  } else {
    const auto found = std::partition_point(from_here, end, [offset](const Run& run) { return run.end <= offset; });
    place.at = static_cast<uint32_t>(found - begin);
  }
  if (place.at > 0 || place.block == blocks_.begin()) return;
  const auto before = std::prev(place.block);
  const uint32_t count = before->second.count;
  if (count > 0 && before->second.runs[count - 1].end > offset) place = {before, count - 1};
}

void PendingIndex::insert(Place& place, const Run& run) {
  if (place.at == 0 && run.offset < place.block->first) {
    --place.block;
    place.at = place.block->second.count;
  }
  if (place.at == place.block->second.count) {
    const auto next = std::next(place.block);
    if (next != blocks_.end() && run.offset >= next->first) place = {next, 0};
  }
  if (place.block->second.count == kBlock) {
    // At the end the new one begins a block, so that lists in order fill theirs; else half of them move.
    const uint32_t kept = place.at == kBlock ? kBlock : kBlock / 2;
    Block& full = place.block->second;
    const uint64_t begin = kept == kBlock ? run.offset : full.runs[kept].offset;
    const auto added = blocks_.try_emplace(std::next(place.block), begin);
    std::copy(full.runs.begin() + kept, full.runs.end(), added->second.runs.begin());
    added->second.count = kBlock - kept;
    full.count = kept;
    if (run.offset >= begin) place = {added, place.at - kept};
  }
  Block& block = place.block->second;
  const auto at = block.runs.begin() + place.at;
  std::copy_backward(at, block.runs.begin() + block.count, block.runs.begin() + block.count + 1);
  *at = run;
  ++block.count;
  ++place.at;
}

void PendingIndex::erase(Place& place) {
  Block& block = place.block->second;
  const auto at = block.runs.begin() + place.at;
  std::copy(at + 1, block.runs.begin() + block.count, at);
  --block.count;
  if (block.count > 0 || place.block == blocks_.begin()) return;
  const auto next = blocks_.erase(place.block);
  if (next != blocks_.end()) {
    place = {next, 0};
  } else {
    const auto last = std::prev(next);
    place = {last, last->second.count};
  }
}

PendingIndex::Run PendingIndex::from(Run run, uint64_t offset) {
  if (run.memory != nullptr) run.memory += offset - run.offset;
  run.offset = offset;
  return run;
}

void PendingIndex::split(Place& place, uint64_t offset) {
  Run& whole = place.block->second.runs[place.at];
  Run second = from(whole, offset);
  second.readers = readers_.copy(whole.readers);
  whole.end = offset;
  ++place.at;
  insert(place, second);
  --place.at;
}

void PendingIndex::add_reader(Place& place, const Extent& extent, uint32_t slot) {
  if (run(place)->offset < extent.offset) split(place, extent.offset);
  Run& mine = *run(place);
  if (mine.end > extent.end()) {
    Run rest = from(mine, extent.end());
    rest.readers = readers_.copy(mine.readers);
    mine.end = extent.end();
    mine.readers = readers_.with(mine.readers, slot);
    ++place.at;
    insert(place, rest);
    --place.at;
  } else {
    mine.readers = readers_.with(mine.readers, slot);
    ++place.at;
  }
}

void PendingIndex::forget(std::span<const Piece> pieces, uint32_t slot) {
  Place place = first();
  for (const Piece& piece : pieces) {
    seek(place, piece.extent.offset);
    while (Run* other = run(place)) {
      if (other->offset >= piece.extent.end()) break;
      if (other->writer == slot) {
        other->writer = kNobody;
        other->memory = nullptr;
      }
      other->readers = readers_.without(other->readers, slot);
      if (other->writer == kNobody && other->readers == ReaderSets::kEmpty) {
        erase(place);
      } else {
        ++place.at;
      }
    }
  }
}

}  // namespace tailrace::impl
