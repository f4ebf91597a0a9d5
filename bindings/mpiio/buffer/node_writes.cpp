#include "mpiio/buffer/node_writes.hpp"

#include <pthread.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <string>
#include <utility>

#include "mpiio/process/collective_counts.hpp"
#include "mpiio/process/process.hpp"
#include "process_client/bytes/extents.hpp"

namespace tailrace::mpiio {

using collective::NodeBuffer;

namespace {

constexpr size_t kPatterns = 32;           // of a part of a write, at most
constexpr size_t kMostFiles = 64;          // with a buffer
constexpr int kTriesAtSignal = 1000;       // of a millisecond each, to get a mutex that the program holds
constexpr int kPausesBetweenLooks = 1000;  // whether a process lives for which this one waits

// Returns the bytes of `left`, which are among those of the extents, back to back.
std::vector<std::byte> bytes_of(std::span<const tailrace_extent> left, std::span<const tailrace_extent> extents,
                                const std::byte* from) {
  std::vector<std::byte> bytes;
  auto extent = extents.begin();
  for (const tailrace_extent& one : left) {
    while (one.offset >= extent->offset + extent->length) from += (extent++)->length;
    const std::byte* const begin = from + (one.offset - extent->offset);
    bytes.insert(bytes.end(), begin, begin + one.length);
  }
  return bytes;
}

}  // namespace

// All of the process that have a buffer. Never destroyed: MPI closes files very late.
struct NodeWrites::All {
  std::mutex mutex;
  std::vector<NodeWrites*> files;  // guarded by mutex …
  std::mutex failures;             // … and by this one, behind which no other is taken
  std::atomic<bool> ends{false};   // the process ends by a signal: nothing is put any more. It orders nothing.
};

// A pointer, since a forked child has another one: threads that it does not have may hold the mutexes of its
// parent's.
NodeWrites::All*& NodeWrites::all() {
  static All* only = [] {
    Pending::instance().set_hand_over(hand_over);
    Pending::instance().set_tell_failures(tell_failures);
    set_before_end(hand_over_all);
    // While it forks, a thread holds what guards the list.
    ::pthread_atfork([] { all()->failures.lock(); }, [] { all()->failures.unlock(); }, leave_to_parent);
    return new All;
  }();
  return only;
}

void NodeWrites::leave_to_parent() {
  for (NodeWrites* const file : all()->files) file->memory_->leave_to_parent();
  all() = new All;
}

NodeWrites::NodeWrites(Output& output, const OwnDescriptor& own, Calls calls)
    : output_(output), own_(own), calls_(std::move(calls)) {}

NodeWrites::~NodeWrites() {
  if (!is_open()) return;
  {
    const std::scoped_lock lock(all()->mutex, all()->failures);
    std::erase(all()->files, this);
  }
  buffer_->leave();
}

void NodeWrites::open(uint64_t last, uint32_t members, uint32_t rank, const std::function<bool(bool)>& agree) {
  if (std::exchange(tried_, true)) return;
  const std::string path = NodeTable::default_path() + ".buffer-" + std::to_string(last);
  if (has_room_for_another()) {
    memory_ = BufferMemory::open(path, NodeBuffer::size(members), NodeBuffer::table_size(members), rank);
  }
  const bool have_all = agree(memory_ != nullptr);
  if (rank == 0) ::unlink(path.c_str());
  if (!have_all) return memory_.reset();
  rank_ = rank;
  failed_before_ = carrier().failed(output_.path()).count;
  before_ = last;
  NodeBuffer::Parts parts;
  parts.memory = memory_->bytes();
  parts.members = members;
  parts.rank = rank;
  parts.provide = [this](uint64_t begin, uint64_t length) { return memory_->provide(begin, length); };
  parts.lives = [this](uint32_t process) { return memory_->lives(process); };
  parts.write = [this](uint64_t number, std::span<const tailrace_extent> extents, const std::byte* bytes) {
    const Refusal refused = output_.hand_over(extents, bytes, before_ + number);
    Pending::instance().note_move();
    if (refused.status != TAILRACE_OK) calls_.fails(refused);
  };
  buffer_.emplace(std::move(parts));
  known_.resize(members);
  const std::scoped_lock lock(all()->mutex, all()->failures);
  all()->files.push_back(this);
}

// Bytes in a buffer take an entry of the node's table until they are handed over: at least one for each file.
bool NodeWrites::has_room_for_another() {
  const std::lock_guard lock(all()->mutex);
  return all()->files.size() < kMostFiles;
}

// Writes what finds no block as this process's own.
Output::Refusal NodeWrites::write(std::span<const tailrace_extent> extents, const std::byte* from, uint64_t access,
                                  Use use) {
  if (all()->ends.load(std::memory_order_relaxed)) return output_.write(extents, from, access);
  output_.prepare();
  Pending::instance().wait_for_all(own_.key(), extents, access);
  std::vector<tailrace_extent> left = put(extents, from, access);
  if (left.empty()) return {};
  const std::vector<std::byte> bytes = bytes_of(left, extents, from);
  if (use != Use::waiting || !wait_for_room(access)) return output_.write(left, bytes.data(), access);
  return write(left, bytes.data(), access, Use::without_waiting);
}

// Returns what has found no block.
std::vector<tailrace_extent> NodeWrites::put(std::span<const tailrace_extent> extents, const std::byte* from,
                                             uint64_t access) {
  std::vector<tailrace_extent> left;
  const std::lock_guard lock(mutex_);
  Held held{access, patterns_of(extents, kPatterns), {}, nullptr};
  held.handing_over = std::make_unique<Pending::HandingOver>(own_.key(), extents, access, true);
  buffer_->put(access - before_, extents, from, held.places, left);
  held_.push_back(std::move(held));
  others_have_ours_ = true;
  forget_taken();
  CollectiveCounts::instance().met(process::bytes_of(extents) - process::bytes_of(left));
  return left;
}

// Waits until all have put what they have of the writes before this one, so that their blocks are free. Returns false
// if they had, or if one of them has ended. The one that is furthest behind never waits.
bool NodeWrites::wait_for_room(uint64_t access) {
  const uint64_t before = access - before_ - 1;
  std::optional<uint32_t> behind = buffer_->behind(before);
  if (!behind) return false;
  for (int pauses = 1; behind; behind = buffer_->behind(before), ++pauses) {
    if (pauses % kPausesBetweenLooks == 0 && !memory_->lives(*behind)) return false;
    calls_.progress();
    ::sched_yield();
  }
  return true;
}

void NodeWrites::arrive(uint64_t access) {
  if (!is_open()) return;
  const std::lock_guard lock(mutex_);
  buffer_->arrive(access - before_);
  forget_taken();
}

void NodeWrites::forget_taken() {
  std::erase_if(held_, [this](Held& held) {
    std::erase_if(held.places, [this](const NodeBuffer::Place& place) { return buffer_->is_taken(place); });
    return held.places.empty();
  });
}

int NodeWrites::settle() {
  if (!is_open()) return 0;
  {
    const std::lock_guard lock(mutex_);
    hand_over([](const Held&) { return true; });
    if (!std::exchange(others_have_ours_, false)) return 0;
  }
  Pending::instance().wait_for_others(own_.key());
  const std::lock_guard lock(mutex_);
  return failed_elsewhere();
}

int NodeWrites::failed_elsewhere() {
  int error = 0;
  for (uint32_t rank = 0; rank < known_.size(); ++rank) {
    if (rank == rank_) continue;
    Known& known = known_[rank];
    const NodeBuffer::Failed failed = buffer_->failed(rank);
    if (std::exchange(known.failed, failed.count) != failed.count) {
      error = failed.latest_errno != 0 ? failed.latest_errno : EIO;
    }
    if (!known.has_ended && buffer_->has_failed(rank)) {
      known.has_ended = true;
      error = EIO;
    }
  }
  return error;
}

void NodeWrites::tell_failures() {
  const std::lock_guard lock(all()->failures);
  for (NodeWrites* const one : all()->files) {
    const auto failed = carrier().failed(one->output_.path());
    one->buffer_->tell_failed({failed.count - one->failed_before_, failed.latest_errno});
  }
}

void NodeWrites::hand_over(const std::function<bool(const Held&)>& concerns) {
  for (const Held& held : held_) {
    if (!concerns(held)) continue;
    for (const NodeBuffer::Place& place : held.places) buffer_->take(place);
  }
  forget_taken();
}

void NodeWrites::hand_over(const FileKey& file, std::span<const BytePattern> bytes, uint64_t access) {
  const std::lock_guard lock(all()->mutex);
  for (NodeWrites* const one : all()->files) {
    if (!file.concerns(one->own_.key())) continue;
    const std::lock_guard its(one->mutex_);
    one->hand_over([&](const Held& held) {
      if (access != 0 && held.access == access) return false;
      return std::any_of(held.bytes.begin(), held.bytes.end(), [&](const BytePattern& has) {
        return std::any_of(bytes.begin(), bytes.end(), [&](const BytePattern& wants) { return touch(has, wants); });
      });
    });
  }
}

void NodeWrites::hand_over_all(bool at_signal) {
  const auto takes = [at_signal](std::unique_lock<std::mutex>& its) {
    for (int tries = 0; at_signal && tries < kTriesAtSignal; ++tries) {
      if (its.try_lock()) return true;
      ::usleep(1000);
    }
    if (!at_signal) its.lock();
    return !at_signal;
  };
  if (at_signal) all()->ends.store(true, std::memory_order_relaxed);
  std::unique_lock lock(all()->mutex, std::defer_lock);
  if (!takes(lock)) return;
  for (NodeWrites* const one : all()->files) {
    std::unique_lock its(one->mutex_, std::defer_lock);
    if (!takes(its)) continue;
    one->hand_over([](const Held&) { return true; });
    one->buffer_->leave();
  }
}

}  // namespace tailrace::mpiio
