#include "collective/buffer/node_buffer.hpp"

#include <sched.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "collective/buffer/block_state.hpp"

namespace tailrace::collective {
namespace {

using State = BlockState<>;
using Phase = State::Phase;

constexpr uint64_t kPage = 4096;
constexpr uint64_t kMarkBytes = NodeBuffer::kBlockBytes / 8;
constexpr uint32_t kTries = 8;             // blocks in which a part of the file may be
constexpr int kPausesBetweenLooks = 1000;  // whether a process lives for which another one waits

constexpr uint64_t whole_pages(uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// Sets the bits [begin, end). Bytes with all their bits are this process's alone, unless processes write the same
// bytes of the file, and then they store the same value; others may have bits in the first and the last byte.
void set(std::span<uint8_t> marks, uint64_t begin, uint64_t end) {
  const auto add = [&](uint64_t byte, uint32_t bits) {
    // Relaxed: BlockState orders it.
    std::atomic_ref<uint8_t>(marks[byte]).fetch_or(static_cast<uint8_t>(bits), std::memory_order_relaxed);
  };
  const uint64_t first = (begin + 7) / 8;
  const uint64_t last = end / 8;
  if (first > last) return add(last, (0xffU << (begin % 8)) & ~(0xffU << (end % 8)));
  if (begin % 8 != 0) add(first - 1, 0xffU << (begin % 8));
  if (last > first) std::memset(&marks[first], 0xff, last - first);
  if (end % 8 != 0) add(last, ~(0xffU << (end % 8)));
}

// Appends the runs of set bits, as extents of the file from `base` on.
void find_runs(std::span<const uint8_t> marks, uint64_t base, std::vector<tailrace_extent>& out) {
  bool in_run = false;
  for (uint64_t byte = 0; byte < marks.size(); byte += 8) {
    uint64_t word = 0;
    std::memcpy(&word, &marks[byte], sizeof word);
    static_assert(std::endian::native == std::endian::little);
    for (int bit = 0; bit < 64;) {
      const int same = in_run ? std::countr_one(word) : std::countr_zero(word);
      const int length = std::min(same, 64 - bit);
      if (in_run) out.back().length += static_cast<uint64_t>(length);
      bit += length;
      if (bit == 64) break;
      word >>= length;
      in_run = !in_run;
      if (in_run) out.push_back({base + byte * 8 + static_cast<uint64_t>(bit), 0});
    }
  }
}

}  // namespace

// A block's state, and what is in it. All of it is zero in a new buffer.
struct alignas(64) NodeBuffer::Control {
  State state;
  // Written by the process that claims the block, before it opens it.
  std::atomic<uint64_t> number;  // of the collective write
  std::atomic<uint64_t> index;   // of the part of the file
  std::atomic<uint64_t> filled;  // bytes
  std::atomic<bool> has_memory;
};

struct NodeBuffer::Member {
  std::atomic<uint64_t> arrived;  // all its bytes of the writes up to this number have been put
  std::atomic<uint64_t> failed;   // its writes (32 bits), and the latest errno
  std::atomic<bool> has_left;
};

struct NodeBuffer::Table {
  Control controls[kBlocks];
  Member members[1];  // by rank: one for each
};

uint64_t NodeBuffer::table_size(uint32_t members) { return whole_pages(sizeof(Table) + members * sizeof(Member)); }

uint64_t NodeBuffer::size(uint32_t members) {
  return table_size(members) + uint64_t{kBlocks} * (kMarkBytes + kBlockBytes);
}

NodeBuffer::NodeBuffer(Parts parts)
    : parts_(std::move(parts)), table_(reinterpret_cast<Table*>(parts_.memory.data())) {}

NodeBuffer::Control& NodeBuffer::control(uint32_t block) const { return table_->controls[block]; }

uint32_t NodeBuffer::number_of(const Control& control) const {
  return static_cast<uint32_t>(&control - table_->controls);
}

// Marks and bytes of a block follow one another, so that they are provided together.
std::span<uint8_t> NodeBuffer::marks(uint32_t block) const {
  std::byte* const at =
      parts_.memory.data() + table_size(parts_.members) + uint64_t{block} * (kMarkBytes + kBlockBytes);
  return {reinterpret_cast<uint8_t*>(at), kMarkBytes};
}

std::byte* NodeBuffer::bytes(uint32_t block) const {
  return reinterpret_cast<std::byte*>(marks(block).data() + kMarkBytes);
}

void NodeBuffer::put(uint64_t number, std::span<const tailrace_extent> extents, const std::byte* from,
                     std::vector<Place>& places, std::vector<tailrace_extent>& left) {
  Inside inside;
  for (tailrace_extent rest : extents) {
    while (rest.length > 0) {
      const uint64_t index = rest.offset / kBlockBytes;
      const uint64_t at = rest.offset % kBlockBytes;
      const uint64_t length = std::min(rest.length, kBlockBytes - at);
      if (index != inside.index) {
        leave_block(inside);
        inside = {index, enter(number, index), 0};
        if (inside.control != nullptr) {
          places.push_back({number_of(*inside.control), inside.control->state.look().generation});
        }
      }
      if (inside.control != nullptr) {
        const uint32_t block = number_of(*inside.control);
        std::memcpy(bytes(block) + at, from, length);
        set(marks(block), at, at + length);
        inside.put += length;
      } else {
        left.push_back({rest.offset, length});
      }
      from += length;
      rest = {rest.offset + length, rest.length - length};
    }
  }
  leave_block(inside);
}

// Enters the block of this part of the file, or opens one; null: there is none. Others look at the same blocks in the
// same order, so that they find it.
NodeBuffer::Control* NodeBuffer::enter(uint64_t number, uint64_t index) {
  const auto first = static_cast<uint32_t>((index + number * 31) % kBlocks);
  for (int pauses = 1;; ++pauses) {
    Control* free = nullptr;
    Control* found = nullptr;
    State::Seen seen{};
    for (uint32_t i = 0; i < kTries && found == nullptr; ++i) {
      Control& one = control((first + i) % kBlocks);
      seen = one.state.look();
      const bool can_be_used = may_grow_ || one.has_memory.load(std::memory_order_relaxed);
      if (seen.phase == Phase::free && free == nullptr && can_be_used) free = &one;
      const bool is_used = seen.phase == Phase::open || seen.phase == Phase::claimed;
      if (is_used && one.number.load(std::memory_order_relaxed) == number &&
          one.index.load(std::memory_order_relaxed) == index) {
        found = &one;
      }
    }
    if (found == nullptr && free == nullptr) return nullptr;
    if (found == nullptr && open(*free, number, index)) return free;
    if (found != nullptr && found->state.enter(seen.generation)) return found;
    // Another process opens it, or has been faster.
    if (found != nullptr && pauses % kPausesBetweenLooks == 0 && !parts_.lives(seen.owner)) return nullptr;
    ::sched_yield();
  }
}

// Returns false if the block cannot be had.
bool NodeBuffer::open(Control& control, uint64_t number, uint64_t index) {
  if (!control.state.claim(parts_.rank)) return false;
  // Relaxed, as are the next ones: BlockState orders them. Those that look for this part wait when they see it here.
  control.number.store(number, std::memory_order_relaxed);
  control.index.store(index, std::memory_order_relaxed);
  if (!control.has_memory.load(std::memory_order_relaxed)) {
    const auto begin =
        static_cast<uint64_t>(reinterpret_cast<std::byte*>(marks(number_of(control)).data()) - parts_.memory.data());
    may_grow_ = parts_.provide(begin, kMarkBytes + kBlockBytes);
    if (!may_grow_) {
      control.state.free();
      return false;
    }
    control.has_memory.store(true, std::memory_order_relaxed);
  }
  control.filled.store(0, std::memory_order_relaxed);
  control.state.open();
  return true;
}

// Takes the block if it is full now.
void NodeBuffer::leave_block(Inside& inside) {
  if (inside.control == nullptr) return;
  Control& control = *std::exchange(inside.control, nullptr);
  const uint32_t generation = control.state.look().generation;
  // Relaxed: who has filled it up takes it, and leave() and seal() order the bytes.
  const bool full = control.filled.fetch_add(inside.put, std::memory_order_relaxed) + inside.put >= kBlockBytes;
  control.state.leave();
  if (full && seal(control, generation)) write_out(control);
}

// Sequentially consistent: of processes that arrive at the same time, one at least sees that all have.
void NodeBuffer::arrive(uint64_t number) {
  table_->members[parts_.rank].arrived.store(number, std::memory_order_seq_cst);
  if (behind(number)) return;
  for (Control& one : table_->controls) {
    const State::Seen seen = one.state.look();
    if (seen.phase != Phase::open || one.number.load(std::memory_order_relaxed) > number) continue;
    if (seal(one, seen.generation)) write_out(one);
  }
}

std::optional<uint32_t> NodeBuffer::behind(uint64_t number) const {
  for (uint32_t rank = 0; rank < parts_.members; ++rank) {
    if (table_->members[rank].arrived.load(std::memory_order_seq_cst) < number) return rank;
  }
  return std::nullopt;
}

// Release: who sees that the process has written what it had sees what has failed. Partner: failed().
void NodeBuffer::tell_failed(const Failed& own) {
  const uint64_t word = (uint64_t{own.count} << 32) | static_cast<uint32_t>(own.latest_errno);
  table_->members[parts_.rank].failed.store(word, std::memory_order_release);
}

NodeBuffer::Failed NodeBuffer::failed(uint32_t rank) const {
  const uint64_t word = table_->members[rank].failed.load(std::memory_order_acquire);
  return {static_cast<uint32_t>(word >> 32), static_cast<int>(word)};
}

// Release and acquire: for who sees that the process has ended, after that. Its lock orders them, too.
void NodeBuffer::leave() { table_->members[parts_.rank].has_left.store(true, std::memory_order_release); }

bool NodeBuffer::has_failed(uint32_t rank) const {
  return !parts_.lives(rank) && !table_->members[rank].has_left.load(std::memory_order_acquire);
}

bool NodeBuffer::is_taken(const Place& place) const {
  const State::Seen seen = control(place.block).state.look();
  return seen.generation != place.generation || seen.phase == Phase::free;
}

// If the process that writes the block has ended, this one does so: the same bytes at the same place.
void NodeBuffer::take(const Place& place) {
  Control& of = control(place.block);
  if (seal(of, place.generation)) return write_out(of);
  for (int pauses = 1; !is_taken(place); ++pauses) {
    ::sched_yield();
    const State::Seen seen = of.state.look();
    if (pauses % kPausesBetweenLooks != 0 || seen.phase != Phase::sealed || seen.generation != place.generation) {
      continue;
    }
    if (!parts_.lives(seen.owner) && of.state.take_over(seen, parts_.rank)) return write_out(of);
  }
}

// Waits until nobody is inside. A process that has ended may count as inside for ever.
bool NodeBuffer::seal(Control& control, uint32_t generation) {
  if (!control.state.seal(generation, parts_.rank)) return false;
  for (int pauses = 1; control.state.look().inside > 0; ++pauses) {
    ::sched_yield();
    if (pauses % kPausesBetweenLooks == 0 && control.state.look().inside <= ended()) break;
  }
  return true;
}

uint32_t NodeBuffer::ended() const {
  uint32_t count = 0;
  for (uint32_t rank = 0; rank < parts_.members; ++rank) count += parts_.lives(rank) ? 0 : 1;
  return count;
}

// Writes what is in a sealed block, and frees it.
void NodeBuffer::write_out(Control& control) {
  const uint32_t block = number_of(control);
  const uint64_t begin = control.index.load(std::memory_order_relaxed) * kBlockBytes;
  extents_.clear();
  find_runs(marks(block), begin, extents_);
  const std::byte* from = bytes(block);
  if (extents_.size() == 1) {
    from += extents_[0].offset - begin;
  } else {
    packed_.clear();
    for (const tailrace_extent& extent : extents_) {
      const std::byte* const run = from + (extent.offset - begin);
      packed_.insert(packed_.end(), run, run + extent.length);
    }
    from = packed_.data();
  }
  if (!extents_.empty()) parts_.write(control.number.load(std::memory_order_relaxed), extents_, from);
  std::memset(marks(block).data(), 0, kMarkBytes);
  control.state.free();
}

}  // namespace tailrace::collective
