#include "engine/queue/request_queue.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "model/extents.hpp"

namespace tailrace::impl {

RequestQueue::RequestQueue(uint32_t limit, const Rules& rules) : rules_(rules), limit_(limit) {
  TAILRACE_REQUIRE(limit > 0);
}

const Request* RequestQueue::admit(Request request) {
  TAILRACE_REQUIRE(room() > 0);
  put_in_order(request.pieces);
  TAILRACE_REQUIRE(in_order(request.pieces));
  Pending& pending = take_slot(std::move(request));
  FileQueue& file = by_file_[pending.request.file];
  if (pending.request.is_fence()) {
    wait_for_all(file, pending);
  } else {
    // Requests before the fence already have it as a dependent.
    if (file.fence != kNone) block(pending, file.fence);
    pending.request.operation == Operation::write ? admit_write(file, pending) : admit_read(file, pending);
  }
  append(file, pending);
  if (pending.blockers > 0) return nullptr;
  // No held write blocks it.
  if (pending.request.operation == Operation::read) pending.request.immediate = false;
  return &pending.request;
}

RequestQueue::Pending& RequestQueue::take_slot(Request request) {
  if (free_slots_.empty()) {
    free_slots_.push_back(static_cast<uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  request.slot = slot;
  Pending& pending = slots_[slot];
  TAILRACE_ASSERT(!pending.held);
  // Clears the lists but keeps their memory for the slot's next request.
  for (auto* list : {&pending.dependents, &pending.took_from}) list->clear();
  pending.waits_for.clear();
  pending.cuts.clear();
  pending.left.clear();
  pending.bounds.clear();
  pending.reads_fine.clear();
  pending.request = std::move(request);
  pending.held = true;
  pending.begun = pending.done = pending.partial = false;
  pending.number = ++admitted_;
  pending.blockers = 0;
  pending.bond = kNone;
  pending.inherited = pending.status = {};
  return pending;
}

// A write whose pieces are shorter than 256 bytes on average, and lie in 16 times as many bytes at most: others have
// little room in its holes.
bool RequestQueue::is_fine(const Request& request) const {
  constexpr uint64_t kShort = 256;
  constexpr uint64_t kSparsest = 16;
  const std::vector<Piece>& pieces = request.pieces;
  if (pieces.size() < rules_.fine_from) return false;
  uint64_t bytes = 0;
  for (const Piece& piece : pieces) bytes += piece.extent.length;
  const uint64_t span = pieces.back().extent.end() - pieces.front().extent.offset;
  return bytes / pieces.size() < kShort && span / kSparsest <= bytes;
}

// Returns true if one of the pieces, which are in order, has a byte of the extent.
bool RequestQueue::has(const std::vector<Piece>& pieces, const Extent& extent) {
  const auto next = std::upper_bound(pieces.begin(), pieces.end(), extent.offset,
                                     [](uint64_t offset, const Piece& piece) { return offset < piece.extent.end(); });
  return next != pieces.end() && next->extent.overlaps(extent);
}

// Returns true if the request, which has waited for the write, reads any of its bytes.
bool RequestQueue::reads_from(const Pending& request, const Pending& write) {
  if (request.request.operation != Operation::read) return false;
  const std::vector<uint32_t>& fine = request.reads_fine;
  return write.bounds.empty() || std::find(fine.begin(), fine.end(), write.request.slot) != fine.end();
}

// Returns the pieces that others must wait for.
std::span<const Piece> RequestQueue::touched_by(const Pending& pending) {
  return pending.bounds.empty() ? pending.request.pieces : pending.bounds;
}

void RequestQueue::append(FileQueue& file, Pending& pending) {
  const uint32_t slot = pending.request.slot;
  pending.before = file.last;
  pending.after = kNone;
  (file.last == kNone ? file.first : slots_[file.last].after) = slot;
  file.last = slot;
  if (pending.request.is_fence()) file.fence = slot;
}

void RequestQueue::wait_for_all(FileQueue& file, Pending& fence) {
  for (uint32_t slot = file.last; slot != kNone; slot = slots_[slot].before) {
    block(fence, slot);
    if (slot == file.fence) break;
  }
}

void RequestQueue::admit_write(FileQueue& file, Pending& write) {
  overlaps_.clear();
  candidates_.clear();
  if (is_fine(write.request)) {
    const std::vector<Piece>& pieces = write.request.pieces;
    const uint64_t begin = pieces.front().extent.offset;
    const Extent bounds{begin, pieces.back().extent.end() - begin};
    // Requests that touch its holes already would be found no more.
    if (file.index.is_free(bounds)) write.bounds.push_back({bounds, nullptr});
  }
  file.index.write(touched_by(write), write.request.slot, [&](const Extent& extent, const PendingIndex::Run& run) {
    found_before_write(write, file.index.readers(), extent, run);
  });
  if (!candidates_.empty()) take_over(write);
}

// Notes the requests that a write must wait for. A reader of a run waits for its writer, so if there are readers, it
// suffices to wait for them.
void RequestQueue::found_before_write(Pending& write, const ReaderSets& readers, const Extent& extent,
                                      const PendingIndex::Run& run) {
  if (run.readers != ReaderSets::kEmpty) {
    return readers.for_each(run.readers, [&](uint32_t reader) { block(write, reader); });
  }
  if (run.writer == PendingIndex::kNobody) return;
  Pending& earlier = slots_[run.writer];
  const bool is_exact = write.bounds.empty() && earlier.bounds.empty();
  if (!rules_.morph || !is_exact || earlier.begun || earlier.request.client != write.request.client) {
    return block(write, run.writer);
  }
  overlaps_.push_back({run.writer, extent});
  if (std::exchange(earlier.overlapped_by, write.number) == write.number) return;
  candidates_.push_back(candidate(earlier));
}

MorphCandidate RequestQueue::candidate(const Pending& earlier) const {
  const uint32_t slot = earlier.request.slot;
  if (earlier.bond == kNone) return {slot, earlier.number, earlier.number, newest_blocker(earlier)};
  const Bond& bond = bonds_[earlier.bond];
  return {slot, earlier.number, bond.floor, bond.newest_blocker};
}

void RequestQueue::take_over(Pending& write) {
  const size_t count = may_take_from(candidates_, newest_blocker(write));
  for (size_t i = 0; i < candidates_.size(); ++i) {
    Pending& earlier = slots_[candidates_[i].slot];
    if (i >= count) {
      block(write, candidates_[i].slot);
      continue;
    }
    earlier.taken_by = write.number;
    write.took_from.push_back(candidates_[i].slot);
    // Requests that still write those bytes, or read the bytes before them, also come before this write.
    for (const Name& name : earlier.waits_for) {
      if (slots_[name.slot].held && slots_[name.slot].number == name.number) block(write, name.slot);
    }
  }
  for (const uint32_t earlier : write.took_from) bind(slots_[earlier], write);
  for (const Overlap& overlap : overlaps_) {
    Pending& earlier = slots_[overlap.slot];
    if (earlier.taken_by != write.number) continue;
    earlier.cuts.push_back(overlap.extent);
    counts_.overwritten += overlap.extent.length;
  }
}

void RequestQueue::bind(Pending& earlier, Pending& later) {
  uint32_t into = bond_of(later);
  uint32_t from = bond_of(earlier);
  if (into == from) return;
  if (bonds_[into].members.size() < bonds_[from].members.size()) std::swap(into, from);
  Bond& large = bonds_[into];
  Bond& small = bonds_[from];
  for (const uint32_t slot : small.members) slots_[slot].bond = into;
  large.members.insert(large.members.end(), small.members.begin(), small.members.end());
  large.floor = std::min(large.floor, small.floor);
  large.newest_blocker = std::max(large.newest_blocker, small.newest_blocker);
  large.left += small.left;
  free_bonds_.push_back(from);
}

// Returns the bond of a request; makes a new one, with all that it waits for, if it has none.
uint32_t RequestQueue::bond_of(Pending& pending) {
  if (pending.bond != kNone) return pending.bond;
  if (free_bonds_.empty()) {
    free_bonds_.push_back(static_cast<uint32_t>(bonds_.size()));
    bonds_.emplace_back();
  }
  pending.bond = free_bonds_.back();
  free_bonds_.pop_back();
  Bond& bond = bonds_[pending.bond];
  bond.members.assign(1, pending.request.slot);
  bond.floor = pending.number;
  bond.newest_blocker = newest_blocker(pending);
  bond.left = 1;
  return pending.bond;
}

void RequestQueue::admit_read(FileQueue& file, Pending& read) {
  const uint64_t since = file.fence == kNone ? 0 : slots_[file.fence].number;
  const std::vector<Piece>& pieces = read.request.pieces;
  size_t at = 0;              // the present piece
  size_t of_last = SIZE_MAX;  // the piece of the last entry in `left`: a failure must name the right piece
  const auto memory_of = [&](uint64_t offset) {
    while (pieces[at].extent.end() <= offset) ++at;
    return pieces[at].memory + (offset - pieces[at].extent.offset);
  };
  const auto found = [&](const Extent& extent, const PendingIndex::Run& run) {
    if (run.writer == PendingIndex::kNobody || slots_[run.writer].number < since) return false;
    const Pending& write = slots_[run.writer];
    if (!may_steal(file, read, write)) {
      if (!write.bounds.empty() && has(write.request.pieces, extent)) read.reads_fine.push_back(run.writer);
      block(read, run.writer);
      return false;
    }
    // The memory of a hostile client may overlap itself.
    std::memmove(memory_of(extent.offset), run.memory + (extent.offset - run.offset), extent.length);
    counts_.stolen += extent.length;
    read.partial = true;
    return true;
  };
  const auto unserved = [&](const Extent& extent) {
    std::byte* const memory = memory_of(extent.offset);
    if (of_last == at && read.left.back().extent.end() == extent.offset) {
      read.left.back().extent.length += extent.length;
      return;
    }
    of_last = at;
    read.left.push_back({extent, memory});
  };
  file.index.read(pieces, read.request.slot, found, unserved);
  if (!read.partial) read.left.clear();
}

// Behind a fence, earlier requests come first, even if their bytes could be stolen.
bool RequestQueue::may_steal(const FileQueue& file, const Pending& read, const Pending& write) const {
  if (!rules_.steal || file.fence != kNone || !write.bounds.empty()) return false;
  return rules_.steal_from_all || write.request.client == read.request.client;
}

void RequestQueue::block(Pending& later, uint32_t slot) {
  Pending& earlier = slots_[slot];
  if (std::exchange(earlier.blocker_of, later.number) == later.number) return;
  earlier.dependents.push_back(later.request.slot);
  later.waits_for.push_back({slot, earlier.number});
  ++later.blockers;
}

uint64_t RequestQueue::newest_blocker(const Pending& pending) const {
  uint64_t newest = 0;
  for (const Name& name : pending.waits_for) {
    const Pending& blocker = slots_[name.slot];
    if (blocker.held && blocker.number == name.number) newest = std::max(newest, name.number);
  }
  return newest;
}

std::span<const Piece> RequestQueue::begin(uint32_t slot) {
  Pending& pending = slots_[slot];
  TAILRACE_REQUIRE(pending.held);
  TAILRACE_REQUIRE(pending.blockers == 0);
  TAILRACE_REQUIRE(!std::exchange(pending.begun, true));
  if (!pending.cuts.empty()) {
    pending.left = without(pending.request.pieces, pending.cuts);
    pending.partial = true;
  }
  return pending.partial ? pending.left : pending.request.pieces;
}

void RequestQueue::finish(uint32_t slot, const Status& status, std::vector<Ended>& ended,
                          std::vector<const Request*>& ready) {
  Pending& pending = slots_[slot];
  TAILRACE_REQUIRE(pending.held);
  TAILRACE_REQUIRE(pending.blockers == 0);
  TAILRACE_REQUIRE(!std::exchange(pending.done, true));
  pending.begun = true;  // also if it failed before it began
  if (pending.status.ok()) pending.status = status;
  if (pending.bond == kNone) {
    end(slot, ended, ready);
  } else if (--bonds_[pending.bond].left == 0) {
    end_together(pending.bond, ended, ready);
  }
}

// Ends the members in the order of admission. If a server dies when only some ends are known, its successor repeats
// the last ones in that order, and the bytes are right.
void RequestQueue::end_together(uint32_t bond, std::vector<Ended>& ended, std::vector<const Request*>& ready) {
  std::vector<uint32_t>& members = bonds_[bond].members;
  std::sort(members.begin(), members.end(),
            [this](uint32_t a, uint32_t b) { return slots_[a].number < slots_[b].number; });
  for (auto later = members.rbegin(); later != members.rend(); ++later) {
    const Status& status = slots_[*later].status;
    for (const uint32_t earlier : slots_[*later].took_from) {
      Pending& other = slots_[earlier];
      if (!status.ok() && other.status.ok()) other.status = consequence(other.request, status);
    }
  }
  for (const uint32_t slot : members) end(slot, ended, ready);
  free_bonds_.push_back(bond);
}

void RequestQueue::end(uint32_t slot, std::vector<Ended>& ended, std::vector<const Request*>& ready) {
  Pending& pending = slots_[slot];
  const Request& request = pending.request;
  const Status& status = pending.status;
  FileQueue& file = by_file_.at(request.file);
  (pending.before == kNone ? file.first : slots_[pending.before].after) = pending.after;
  (pending.after == kNone ? file.last : slots_[pending.after].before) = pending.before;
  if (file.fence == slot) file.fence = kNone;
  if (!request.is_fence()) {
    const bool of_left = request.operation == Operation::read && pending.partial;
    file.index.forget(of_left ? std::span<const Piece>(pending.left) : touched_by(pending), slot);
  }
  const bool lost_bytes = !status.ok() && !is_withdrawn(status) && request.operation == Operation::write;
  for (const uint32_t later : pending.dependents) {
    Pending& dependent = slots_[later];
    TAILRACE_ASSERT(dependent.blockers > 0);
    if (lost_bytes && reads_from(dependent, pending)) dependent.inherited = status;
    if (--dependent.blockers == 0) ready.push_back(&dependent.request);
  }
  pending.held = false;
  free_slots_.push_back(slot);
  const bool closes = !request.moves_bytes() && request.operation != Operation::sync;
  if (closes && file.first == kNone) by_file_.erase(request.file);
  ended.push_back({std::move(pending.request), std::move(pending.status)});
}

// Returns the failure of a write some of whose bytes went with a later write, and are not in the file.
Status RequestQueue::consequence(const Request& of, const Status& cause) {
  Fault fault = cause.fault();
  fault.operation = name_of(of.operation);
  fault.message =
      fmt::format("{} (a later write of client {} had taken over bytes of this one)", fault.message, of.client);
  return Status(std::move(fault));
}

const Status& RequestQueue::inherited(uint32_t slot) const {
  TAILRACE_REQUIRE(slots_[slot].held);
  return slots_[slot].inherited;
}

}  // namespace tailrace::impl
