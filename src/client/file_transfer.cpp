#include "client/file_transfer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <optional>
#include <string>
#include <utility>

#include "base/memory/range_allocator.hpp"
#include "base/memory/stream_copy.hpp"
#include "base/names/counted.hpp"
#include "model/wire/file_wire.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kWord = 8;  // bytes
constexpr uint64_t kPage = RangeAllocator::kPage;
constexpr uint64_t kEarlyPart = 2u << 20;  // bytes of a verb that is sent while the rest is copied

Extent extent_of(const tailrace_extent& of) { return {of.offset, of.length}; }

Status refuse_overlap(const std::vector<Extent>& list, size_t one, size_t other) {
  return refuse(
      fmt::format("extents {} ({} at offset {}) and {} ({} at offset {}) overlap: which bytes shall be in the file?",
                  one, counted(list[one].length, "byte"), list[one].offset, other,
                  counted(list[other].length, "byte"), list[other].offset));
}

// Cuts a list into parts, each of which fits, with its list, into a block of `most` bytes. Leaves out empty extents.
// An extent that does not fit alone is cut at a page of the file, or at least at a word of 8 bytes: another client
// may write between two parts, and must not see half of a word.
class Cutter {
 public:
  Cutter(std::span<const tailrace_extent> extents, uint64_t most, size_t most_extents)
      : extents_(extents), most_(most), most_extents_(most_extents) {}

  // Takes the next part; returns false if there is none. Sets `bytes` to the bytes of its extents.
  bool next(std::vector<Extent>& list, uint64_t& bytes) {
    list.clear();
    bytes = 0;
    for (; index_ < extents_.size() && list.size() < most_extents_; ++index_, done_ = 0) {
      const Extent rest{extents_[index_].offset + done_, extents_[index_].length - done_};
      if (rest.length == 0) continue;
      if (fits(list.size() + 1, bytes + rest.length)) {
        list.push_back(rest);
        bytes += rest.length;
        continue;
      }
      if (!list.empty()) break;
      bytes = part_of(rest);
      list.push_back({rest.offset, bytes});
      done_ += bytes;
      break;
    }
    return !list.empty();
  }

 private:
  bool fits(size_t count, uint64_t bytes) const {
    return bytes <= most_ && file_list_data(count, bytes) + bytes <= most_;
  }
  uint64_t part_of(const Extent& rest) const {
    const uint64_t part = most_ - file_list_data(1, most_);
    const uint64_t end = rest.offset + part;
    return end % kPage < part ? part - end % kPage : part - end % kWord;
  }

  const std::span<const tailrace_extent> extents_;
  const uint64_t most_;
  const size_t most_extents_;
  size_t index_ = 0;
  uint64_t done_ = 0;  // bytes done of the current extent
};

}  // namespace

Status refuse(std::string what) { return Status(TAILRACE_INVALID_ARGUMENT, std::move(what)); }

struct FileTransfer::Batch {
  const std::vector<Extent>& extents;
  uint64_t bytes = 0;

  uint64_t data() const { return file_list_data(extents.size(), bytes); }
  uint64_t block() const { return data() + bytes; }
  // A write of one extent needs no list. Its bytes lie on a page of the pool, so if they also do in the file, they
  // can bypass the page cache.
  bool is_alone() const { return extents.size() == 1 && bytes <= std::numeric_limits<uint32_t>::max(); }
  uint64_t block_to_write() const { return is_alone() ? bytes : block(); }
};

// A quarter of the pool, so that one verb is copied while others are written. It is constant for a pool, so that
// lists are always cut alike.
uint64_t FileTransfer::bytes_at_once() const { return std::max(memory_.size() / 4 / kPage * kPage, kPage); }

Descriptor FileTransfer::describe(Verb verb, uint32_t file, PoolBlock block, uint64_t bytes) const {
  Descriptor descriptor;
  descriptor.verb = verb;
  descriptor.variable = file;
  descriptor.bytes = {block.offset, bytes, block.index, 0, meter_.now().count()};
  return descriptor;
}

void FileTransfer::take_list(std::span<const tailrace_extent> extents) {
  list_.clear();
  for (const tailrace_extent& extent : extents) list_.push_back(extent_of(extent));
}

Status FileTransfer::check(std::span<const tailrace_extent> extents, const void* data, bool may_overlap) {
  if (extents.empty()) return refuse("found a list of no extents, expected at least one");
  uint64_t total = 0;
  bool sorted = true;
  for (size_t i = 0; i < extents.size(); ++i) {
    const Extent extent = extent_of(extents[i]);
    if (const Status sound = check_file_extent(extent); !sound.ok()) {
      return refuse(fmt::format("extent {}: {}", i, sound.fault().message));
    }
    if (extent.length > std::numeric_limits<size_t>::max() - total) {
      return refuse(fmt::format("extent {}: with it, the list has more bytes than memory can have", i));
    }
    total += extent.length;
    sorted = sorted && (i == 0 || extent.offset >= extents[i - 1].offset + extents[i - 1].length);
  }
  if (data == nullptr && total > 0)
    return refuse(fmt::format("found NULL, expected {} of memory", counted(total, "byte")));
  if (sorted || may_overlap) return {};
  take_list(extents);
  const auto overlap = find_overlap(list_);
  if (!overlap) return {};
  const auto [one, other] = std::minmax(overlap->first, overlap->second);
  return refuse_overlap(list_, one, other);
}

Result<uint64_t> FileTransfer::write(File of, std::span<const tailrace_extent> extents, const void* data, Way way) {
  if (way == Way::copied) return write_all(of, extents, data);
  if (way == Way::borrowed && can_borrow(of, extents)) return lend(of, extents[0], data);
  return write_at_once(of, extents, data);
}

// Once a file has been read, the pool serves further reads of it where it can. So the pool must have all later
// writes.
bool FileTransfer::can_borrow(File of, std::span<const tailrace_extent> extents) const {
  constexpr uint64_t kLongest = std::numeric_limits<uint32_t>::max();
  return link_.reaches_client() && extents.size() == 1 && extents[0].length > 0 && extents[0].length <= kLongest &&
         !own_.is_read(of.key);
}

// Sends one extent from where it is; returns the ticket.
Result<uint64_t> FileTransfer::lend(File of, const tailrace_extent& extent, const void* data) {
  Descriptor verb = describe(Verb::file_borrow, of.number, {}, 0);
  verb.at = {reinterpret_cast<uint64_t>(data), extent.offset, kNoBlock, static_cast<uint32_t>(extent.length),
             verb.bytes.handed};
  const Result<uint64_t> ticket = link_.send_with_ticket(verb, TraceEvent::kNone);
  if (!ticket.ok()) return ticket;
  book_.counts(of.record).bytes_written.add(extent.length);
  return ticket;
}

// Writes the list in one verb; returns its ticket.
Result<uint64_t> FileTransfer::write_at_once(File of, std::span<const tailrace_extent> extents, const void* data) {
  Cutter cutter(extents, bytes_at_once(), kMostFileExtents);
  uint64_t bytes = 0;
  if (!cutter.next(list_, bytes)) return kNoTicket;  // the list has only empty extents
  std::vector<Extent> more;
  uint64_t more_bytes = 0;
  if (cutter.next(more, more_bytes)) {
    return Status(TAILRACE_TOO_LARGE, fmt::format("the list has more than {} bytes or {} extents, so it needs more "
                                                  "than a fourth of the budget: write it in parts",
                                                  bytes, list_.size()));
  }
  Result<OpenTicket> ticket = link_.open_ticket(TraceEvent::kNone);
  if (!ticket.ok()) return ticket.status();
  const Batch batch{list_, bytes};
  const Result<PoolBlock> block = memory_.take(batch.block_to_write());
  if (!block.ok()) return block.status();
  copy(of, batch, static_cast<const std::byte*>(data), ticket.value().number(), block.value());
  if (Status sent = send_copied(of); !sent.ok()) return sent;
  return ticket.value().sent();
}

// Writes the list in as many verbs as it needs, without a ticket. While there is memory, all is copied before the
// first verb is sent: a writer that began earlier would take its share of the memory bandwidth, and the caller waits
// only for the copy. If the caller will wait for the storage anyway, each verb is sent when it is copied.
Result<uint64_t> FileTransfer::write_all(File of, std::span<const tailrace_extent> extents, const void* data) {
  const Nanoseconds copied_before = meter_.counters().copying;
  const bool early = waits_for_storage();
  const uint64_t most = early ? 0 : memory_.size() / 2;
  Cutter cutter(extents, early ? std::min(kEarlyPart, bytes_at_once()) : bytes_at_once(), kMostFileExtents);
  const auto* from = static_cast<const std::byte*>(data);
  uint64_t held = 0, total = 0;
  for (uint64_t bytes = 0; cutter.next(list_, bytes); from += bytes, total += bytes) {
    const Batch batch{list_, bytes};
    const uint64_t room = batch.block_to_write();
    Result<std::optional<PoolBlock>> block = std::optional<PoolBlock>();
    if (held + room <= most) block = memory_.allocate(room);
    if (!block.ok() || !block.value()) {
      held = 0;
      if (Status sent = send_copied(of); !sent.ok()) return sent;
      const Result<PoolBlock> waited_for = memory_.take(room);
      if (!waited_for.ok()) return waited_for.status();
      block = std::optional(waited_for.value());
    }
    held += room;
    copy(of, batch, from, kNoTicket, *block.value());
  }
  if (Status sent = send_copied(of); !sent.ok()) return sent;
  if (total > kEarlyPart) last_large_ = {meter_.counters().copying - copied_before, meter_.counters().waiting_ticket};
  return kNoTicket;
}

// Returns true if the caller has waited for its last large write, or since, for longer than that was copied.
bool FileTransfer::waits_for_storage() const {
  return meter_.counters().waiting_ticket - last_large_.waited > last_large_.copying;
}

// Copies a batch into the block that was allocated for it.
void FileTransfer::copy(File of, const Batch& batch, const std::byte* data, uint64_t ticket, PoolBlock block) {
  const Nanoseconds start = meter_.now();
  const uint64_t to = batch.is_alone() ? block.offset : put_list(block, batch);
  std::byte* const bytes = memory_.bytes().data() + to;
  stream_copy(bytes, data, batch.bytes);
  meter_.counters().copying += meter_.now() - start;
  Descriptor verb = describe(Verb::file_write, of.number, block, batch.block());
  if (batch.is_alone()) {
    verb.verb = Verb::file_write_at;
    verb.at = {to, batch.extents[0].offset, block.index, static_cast<uint32_t>(batch.bytes), verb.bytes.handed};
  }
  verb.ticket = ticket;
  copied_.push_back({verb, own_.is_read(of.key) ? batch.extents : std::vector<Extent>(), batch.bytes, bytes});
}

Status FileTransfer::send_copied(File of) {
  Status status;
  for (Copied& copied : copied_) {
    const PoolBlock block{copied.verb.bytes.block, copied.verb.bytes.address};
    Result<uint64_t> sent = status.ok() ? link_.send_with_block(copied.verb) : status;
    if (!sent.ok()) {
      status = sent.status();
      memory_.free(block);
      continue;
    }
    book_.counts(of.record).bytes_written.add(copied.length);
    if (!copied.extents.empty()) own_.sent(of.key, block.index, sent.value(), copied.extents, copied.bytes);
  }
  copied_.clear();
  return status;
}

// Puts the list into the block, and returns where in the pool the bytes go.
uint64_t FileTransfer::put_list(PoolBlock block, const Batch& batch) {
  FileList list;
  list.count = static_cast<uint32_t>(batch.extents.size());
  list.data = batch.data();
  std::byte* const at = memory_.at(block);
  std::memcpy(at, &list, sizeof list);
  std::memcpy(at + sizeof list, batch.extents.data(), batch.extents.size() * sizeof(Extent));
  return block.offset + list.data;
}

// Overlapping extents are read one by one, since a request must not have overlapping parts.
Status FileTransfer::read(File of, std::span<const tailrace_extent> extents, void* data) {
  take_list(extents);
  Cutter cutter(extents, bytes_at_once(), find_overlap(list_) ? 1 : kMostFileExtents);
  auto* to = static_cast<std::byte*>(data);
  for (uint64_t bytes = 0; cutter.next(list_, bytes); to += bytes) {
    const Batch batch{list_, bytes};
    const Status done = read_own(of, batch, to) ? Status() : ask(of.number, batch, to);
    if (!done.ok()) return done;
    book_.counts(of.record).bytes_read.add(bytes);
  }
  return {};
}

// Reads from the memory of pending writes; returns true if they have all the bytes. It does not know writes before
// the first read of a file, so that programs that do not read pay nothing.
bool FileTransfer::read_own(File of, const Batch& batch, std::byte* data) {
  if (!reads_own_ || of.key == OwnWrites::kUnknown) return false;
  const bool found = own_.read(of.key, batch.extents, data, [this](uint32_t block, uint64_t sequence) {
    return link_.is_pending(block, sequence);
  });
  if (found) {
    book_.counts(of.record).served.add(batch.bytes);
    served_ += batch.bytes;
  }
  own_.set_read(of.key);
  return found;
}

Status FileTransfer::ask(uint32_t file, const Batch& batch, std::byte* data) {
  const Result<PoolBlock> block = memory_.take(batch.block());
  if (!block.ok()) return block.status();
  const uint64_t from = put_list(block.value(), batch);
  bool in_use = false;
  const Status done = link_.ask(describe(Verb::file_read, file, block.value(), batch.block()), in_use);
  if (done.ok()) std::memcpy(data, memory_.bytes().data() + from, batch.bytes);
  if (!in_use) memory_.free(block.value());
  return done;
}

}  // namespace tailrace::impl
