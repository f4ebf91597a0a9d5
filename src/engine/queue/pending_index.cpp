#include "engine/queue/pending_index.hpp"

#include <iterator>
#include <utility>

namespace tailrace::impl {

PendingIndex::PendingIndex() { blocks_.emplace(0, std::make_unique<Block>()); }

PendingIndex::Block* PendingIndex::add_after(Block& block, uint64_t begin) {
  auto added = std::make_unique<Block>();
  Block* const after = added.get();
  after->before = &block;
  after->after = block.after;
  after->begin = begin;
  after->end = block.end;
  if (block.after != nullptr) block.after->before = after;
  block.after = after;
  block.end = begin;
  blocks_.emplace(begin, std::move(added));
  return after;
}

void PendingIndex::remove(Block& block) {
  block.before->after = block.after;
  block.before->end = block.end;
  if (block.after != nullptr) block.after->before = block.before;
  blocks_.erase(block.begin);
}

PendingIndex::Run* PendingIndex::run(Place& place) {
  while (place.at >= place.block->count) {
    if (place.block->after == nullptr) return nullptr;
    place = {place.block->after, 0};
  }
  return &place.block->runs[place.at];
}

void PendingIndex::seek(Place& place, uint64_t offset) {
  // Lists mostly come in order, so the block is this one or one of the next few.
  for (int hops = 0; offset >= place.block->end && hops < kHops; ++hops) place = {place.block->after, 0};
  if (offset < place.block->begin || offset >= place.block->end) place = {block_for(offset), 0};
  const Block& block = *place.block;
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
  if (place.at > 0 || block.before == nullptr) return;
  Block& before = *block.before;
  if (before.count > 0 && before.runs[before.count - 1].end > offset) place = {&before, before.count - 1};
}

void PendingIndex::insert(Place& place, const Run& run) {
  if (place.at == 0 && run.offset < place.block->begin) {
    place.block = place.block->before;
    place.at = place.block->count;
  }
  if (place.at == place.block->count && run.offset >= place.block->end) place = {place.block->after, 0};
  if (place.block->count == kBlock) {
    // At the end, the new run begins a block, so that sorted lists fill their blocks; elsewhere half of the runs
    // move.
    const uint32_t kept = place.at == kBlock ? kBlock : kBlock / 2;
    Block& full = *place.block;
    const uint64_t begin = kept == kBlock ? run.offset : full.runs[kept].offset;
    Block* const added = add_after(full, begin);
    std::copy(full.runs.begin() + kept, full.runs.end(), added->runs.begin());
    added->count = kBlock - kept;
    full.count = kept;
    if (run.offset >= begin) place = {added, place.at - kept};
  }
  Block& block = *place.block;
  const auto at = block.runs.begin() + place.at;
  std::copy_backward(at, block.runs.begin() + block.count, block.runs.begin() + block.count + 1);
  *at = run;
  ++block.count;
  ++place.at;
}

void PendingIndex::erase(Place& place) {
  Block& block = *place.block;
  const auto at = block.runs.begin() + place.at;
  std::copy(at + 1, block.runs.begin() + block.count, at);
  --block.count;
  if (block.count > 0 || block.before == nullptr) return;
  place = block.after != nullptr ? Place{block.after, 0} : Place{block.before, block.before->count};
  remove(block);
}

void PendingIndex::sweep(Block& block) {
  const auto begin = block.runs.begin();
  const auto end = std::remove_if(begin, begin + block.count, [](const Run& run) {
    return run.writer == kNobody && run.readers == ReaderSets::kEmpty;
  });
  block.count = static_cast<uint32_t>(end - begin);
  if (block.count == 0 && block.before != nullptr) remove(block);
}

PendingIndex::Run PendingIndex::from(Run run, uint64_t offset) {
  if (run.memory != nullptr) run.memory += offset - run.offset;
  run.offset = offset;
  return run;
}

void PendingIndex::split(Place& place, uint64_t offset) {
  Run& whole = place.block->runs[place.at];
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
  Block* touched = place.block;  // a block's forgotten runs are removed when the next block is touched
  const auto sweep_unless_at = [&](Block* block) {
    if (touched != block) sweep(*std::exchange(touched, block));
  };
  for (const Piece& piece : pieces) {
    seek(place, piece.extent.offset);
    while (Run* other = run(place)) {
      if (other->offset >= piece.extent.end()) break;
      sweep_unless_at(place.block);
      if (other->writer == slot) {
        other->writer = kNobody;
        other->memory = nullptr;
      }
      other->readers = readers_.without(other->readers, slot);
      ++place.at;
    }
  }
  sweep(*touched);
}

}  // namespace tailrace::impl
