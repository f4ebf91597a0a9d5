#include "client/client_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "base/memory/range_allocator.hpp"
#include "base/memory/stream_copy.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kWord = 8;  // bytes
constexpr uint64_t kPage = RangeAllocator::kPage;

Extent extent_of(const tailrace_extent& of) { return {of.offset, of.length}; }

Status about(const Status& status, const char* verb, const std::string& path) {
  Fault fault = status.fault();
  fault.message = fmt::format("{} '{}': {}", verb, path, fault.message);
  fault.operation = verb;
  fault.file = path;
  return Status(std::move(fault));
}

Status refuse(std::string what) { return Status(TAILRACE_INVALID_ARGUMENT, std::move(what)); }

// Cuts a list into parts, each of which fits into a block of `most` bytes with the list itself. Empty extents are
// left out. An extent that would not fit alone is cut at a page of the file, or at least at a word of 8 bytes:
// another client may write between two parts, and must not write half of a word.
class Cutter {
 public:
  Cutter(std::span<const tailrace_extent> extents, uint64_t most, size_t most_extents)
      : extents_(extents), most_(most), most_extents_(most_extents) {}

  // The next part; false if there is none. `bytes`: of its extents.
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
  uint64_t done_ = 0;  // of the extent there
};

}  // namespace

struct ClientFiles::Batch {
  const std::vector<Extent>& extents;
  uint64_t bytes = 0;

  uint64_t data() const { return file_list_data(extents.size(), bytes); }
  uint64_t block() const { return data() + bytes; }
  // Written, it goes without a list: bytes that lie on a page of the pool, as they may on one of the file, can go
  // past the page cache.
  bool is_alone() const { return extents.size() == 1 && bytes <= std::numeric_limits<uint32_t>::max(); }
  uint64_t block_to_write() const { return is_alone() ? bytes : block(); }
};

Result<uint32_t> ClientFiles::open(std::string_view path, int mode) {
  const char* const verb = "file_open";
  const std::string given(path);
  if (!is_file_mode(static_cast<uint32_t>(mode))) {
    return about(
        refuse(fmt::format("found mode {}, expected TAILRACE_FILE_READ, or TAILRACE_FILE_WRITE with or without "
                           "TAILRACE_FILE_TRUNCATE, TAILRACE_FILE_IMMEDIATE and one of TAILRACE_FILE_PUBLISH and "
                           "TAILRACE_FILE_SEAL",
                           mode)),
        verb, given);
  }
  const Result<std::string> plain = file_path_below(path);
  if (!plain.ok()) return about(plain.status(), verb, given);
  if (Status room = make_room(); !room.ok()) return about(room, verb, given);
  const Nanoseconds start = meter_.now();
  const uint64_t bytes = sizeof(FileOpening) + plain.value().size();
  const Result<PoolBlock> block = memory_.take(bytes);
  if (!block.ok()) return about(block.status(), verb, given);
  FileOpening opening;
  opening.mode = static_cast<uint32_t>(mode);
  opening.length = static_cast<uint32_t>(plain.value().size());
  opening.record = book_.choose(plain.value());
  std::byte* const at = memory_.at(block.value());
  std::memcpy(at, &opening, sizeof opening);
  std::memcpy(at + sizeof opening, plain.value().data(), plain.value().size());
  bool in_use = false;
  const Status opened = link_.ask(describe(Verb::file_open, ++last_, block.value(), bytes), in_use);
  if (!opened.ok()) {
    if (!in_use) memory_.free(block.value());
    return opened;
  }
  memory_.withhold(bytes);
  book_.opened(opening.record, plain.value());
  Open& of = open_[last_];
  of.path = root_ + plain.value();
  of.writes = mode != TAILRACE_FILE_READ;
  of.published = (mode & TAILRACE_FILE_PUBLISH) != 0;
  of.sealed = (mode & TAILRACE_FILE_SEAL) != 0;
  of.block = block.value();
  of.bytes = bytes;
  of.record = opening.record;
  if (keeps_names_) names_[last_] = plain.value();
  meter_.note_file(TraceEvent::What::file_open, last_, 0, start);
  return last_;
}

Status ClientFiles::write(uint64_t file, std::span<const tailrace_extent> extents, const void* data) {
  return hand_over(file, extents, data, Way::copied).status();
}

Result<uint64_t> ClientFiles::iwrite(uint64_t file, std::span<const tailrace_extent> extents, const void* data) {
  return hand_over(file, extents, data, Way::copied_with_ticket);
}

Result<uint64_t> ClientFiles::borrow(uint64_t file, std::span<const tailrace_extent> extents, const void* data) {
  return hand_over(file, extents, data, Way::borrowed);
}

Result<uint64_t> ClientFiles::hand_over(uint64_t file, std::span<const tailrace_extent> extents, const void* data,
                                        Way way) {
  const Result<const Open*> found = find_to_write(file, extents, data);
  if (!found.ok()) return found.status();
  const Open& of = *found.value();
  const Nanoseconds start = meter_.now();
  const auto number = static_cast<uint32_t>(file);
  const uint64_t before = book_.counts(of.record).bytes_written.get();
  const Result<uint64_t> ticket = hand_over(number, of, extents, data, way);
  if (!ticket.ok()) return about(ticket.status(), "file_write", of.path);
  book_.counts(of.record).writes.add();
  book_.times(of.record).handover.add(static_cast<uint64_t>((meter_.now() - start).count()));
  meter_.note_file(TraceEvent::What::file_write, number, book_.counts(of.record).bytes_written.get() - before, start);
  return ticket;
}

Result<uint64_t> ClientFiles::hand_over(uint32_t file, const Open& of, std::span<const tailrace_extent> extents,
                                        const void* data, Way way) {
  if (way == Way::copied) return write_all(file, of, extents, data);
  if (way == Way::borrowed && can_borrow(of, extents)) return lend(file, of, extents[0], data);
  return write_at_once(file, of, extents, data);
}

// Reads of a file that has been read before are answered from the pool if they can be, which must know all later
// writes then.
bool ClientFiles::can_borrow(const Open& of, std::span<const tailrace_extent> extents) const {
  constexpr uint64_t kLongest = std::numeric_limits<uint32_t>::max();
  return link_.reaches_client() && extents.size() == 1 && extents[0].length > 0 && extents[0].length <= kLongest &&
         !book_.is_read(of.record);
}

Result<uint64_t> ClientFiles::lend(uint32_t file, const Open& of, const tailrace_extent& extent, const void* data) {
  const Result<uint64_t> ticket = link_.open_ticket(TraceEvent::kNone);
  if (!ticket.ok()) return ticket;
  Descriptor verb = describe(Verb::file_borrow, file, {}, 0);
  verb.at = {reinterpret_cast<uint64_t>(data), extent.offset, kNoBlock, static_cast<uint32_t>(extent.length),
             verb.bytes.handed};
  verb.ticket = ticket.value();
  if (Status sent = link_.send(verb); !sent.ok()) return sent;
  book_.counts(of.record).bytes_written.add(extent.length);
  return ticket;
}

Result<const ClientFiles::Open*> ClientFiles::find_to_write(uint64_t file, std::span<const tailrace_extent> extents,
                                                            const void* data) {
  const Result<Open*> found = find(file, "file_write");
  if (!found.ok()) return found.status();
  const Open& of = *found.value();
  if (!of.writes) return about(refuse("the file was opened for reading"), "file_write", of.path);
  if (Status sound = check_list("file_write", of, extents, data, false); !sound.ok()) return sound;
  return &of;
}

Result<uint64_t> ClientFiles::write_at_once(uint32_t file, const Open& of, std::span<const tailrace_extent> extents,
                                            const void* data) {
  Cutter cutter(extents, bytes_at_once(), kMostFileExtents);
  uint64_t bytes = 0;
  if (!cutter.next(list_, bytes)) return kNoTicket;  // nothing but empty extents
  std::vector<Extent> more;
  uint64_t more_bytes = 0;
  if (cutter.next(more, more_bytes)) {
    return Status(TAILRACE_TOO_LARGE, fmt::format("the list has more than {} bytes or {} extents, so it needs more "
                                                  "than a fourth of the budget: write it in parts",
                                                  bytes, list_.size()));
  }
  const Result<uint64_t> ticket = link_.open_ticket(TraceEvent::kNone);
  if (!ticket.ok()) return ticket;
  const Batch batch{list_, bytes};
  const Result<PoolBlock> block = memory_.take(batch.block_to_write());
  if (!block.ok()) return block.status();
  copy_batch(file, of.record, batch, static_cast<const std::byte*>(data), ticket.value(), block.value());
  if (Status sent = send_copied(of.record); !sent.ok()) return sent;
  return ticket;
}

// While there is memory, all is copied before the first of it is sent: a writer that begins meanwhile takes its share
// of what memory can do, and the caller waits for the copy alone.
Result<uint64_t> ClientFiles::write_all(uint32_t file, const Open& of, std::span<const tailrace_extent> extents,
                                        const void* data) {
  const uint64_t most = memory_.size() / 2;
  Cutter cutter(extents, bytes_at_once(), kMostFileExtents);
  const auto* from = static_cast<const std::byte*>(data);
  uint64_t held = 0;
  for (uint64_t bytes = 0; cutter.next(list_, bytes); from += bytes) {
    const Batch batch{list_, bytes};
    const uint64_t room = batch.block_to_write();
    std::optional<PoolBlock> block;
    if (held + room <= most) block = memory_.allocate(room);
    if (!block) {
      held = 0;
      if (Status sent = send_copied(of.record); !sent.ok()) return sent;
      const Result<PoolBlock> waited_for = memory_.take(room);
      if (!waited_for.ok()) return waited_for.status();
      block = waited_for.value();
    }
    held += room;
    copy_batch(file, of.record, batch, from, kNoTicket, *block);
  }
  if (Status sent = send_copied(of.record); !sent.ok()) return sent;
  return kNoTicket;
}

Status ClientFiles::read(uint64_t file, std::span<const tailrace_extent> extents, void* data) {
  const Result<Open*> found = find(file, "file_read");
  if (!found.ok()) return found.status();
  const Open& of = *found.value();
  if (Status sound = check_list("file_read", of, extents, data, true); !sound.ok()) return sound;
  const Nanoseconds start = meter_.now();
  const auto number = static_cast<uint32_t>(file);
  FileRecord& counts = book_.counts(of.record);
  const uint64_t before = counts.bytes_read.get();
  const Status done = read_all(number, of, extents, data);
  counts.reads.add();
  waited(TraceEvent::What::file_read, number, of, counts.bytes_read.get() - before, start);
  return done;
}

// Reads a list. If its extents overlap, each of them goes by itself: no request has overlapping parts.
Status ClientFiles::read_all(uint32_t file, const Open& of, std::span<const tailrace_extent> extents, void* data) {
  list_.clear();
  for (const tailrace_extent& extent : extents) list_.push_back(extent_of(extent));
  Cutter cutter(extents, bytes_at_once(), find_overlap(list_) ? 1 : kMostFileExtents);
  auto* to = static_cast<std::byte*>(data);
  for (uint64_t bytes = 0; cutter.next(list_, bytes); to += bytes) {
    const Batch batch{list_, bytes};
    const Status done = read_own(of.record, batch, to) ? Status() : ask_batch(file, batch, to);
    if (!done.ok()) return done;
    book_.counts(of.record).bytes_read.add(bytes);
  }
  return {};
}

// A call that waits has ended.
void ClientFiles::waited(TraceEvent::What what, uint32_t file, const Open& of, uint64_t bytes, Nanoseconds start) {
  book_.times(of.record).waiting.add(static_cast<uint64_t>((meter_.now() - start).count()));
  meter_.note_file(what, file, bytes, start);
}

Status ClientFiles::sync(uint64_t file) {
  const Result<Open*> found = find(file, "file_sync");
  if (!found.ok()) return found.status();
  const Nanoseconds start = meter_.now();
  const auto number = static_cast<uint32_t>(file);
  bool in_use = false;
  Status synced = link_.ask(describe(Verb::file_sync, number, {}, 0), in_use);
  waited(TraceEvent::What::file_sync, number, *found.value(), 0, start);
  return synced;
}

Status ClientFiles::close(uint64_t file) {
  const Nanoseconds start = meter_.now();
  const Result<Open*> found = find(file, "file_close");
  if (!found.ok()) return found.status();
  const uint32_t record = found.value()->record;
  const Result<uint64_t> ticket = iclose(file);
  if (!ticket.ok()) return ticket.status();
  const Status closed = link_.await(ticket.value());
  book_.times(record).waiting.add(static_cast<uint64_t>((meter_.now() - start).count()));
  meter_.note_file(TraceEvent::What::file_close, static_cast<uint32_t>(file), 0, start);
  take_closed();
  return closed;
}

// Whoever goes on after the server's death reads the block of its opening until the close has ended.
Result<uint64_t> ClientFiles::iclose(uint64_t file) {
  const Result<Open*> found = find(file, "file_close");
  if (!found.ok()) return found.status();
  const Result<uint64_t> ticket = link_.open_ticket(TraceEvent::kNone);
  if (!ticket.ok()) return ticket;
  const auto number = static_cast<uint32_t>(file);
  const Open of = *found.value();
  Descriptor verb = describe(Verb::file_close, number, of.block, of.bytes);
  verb.ticket = ticket.value();
  memory_.release(of.bytes);
  closing_.push_back({ticket.value(), of.record});
  open_.erase(number);
  const Result<uint64_t> sent = link_.send_with_block(verb);
  return sent.ok() ? ticket : sent;
}

// Where the server notes what has failed.
Status ClientFiles::give_up(uint64_t file) {
  const Result<Open*> found = find(file, "file_give_up");
  if (!found.ok()) return found.status();
  const Open& of = *found.value();
  if (!of.published && !of.sealed) {
    return about(refuse("the file was opened neither to be published nor to be sealed"), "file_give_up", of.path);
  }
  set_failed(opening(of));
  return {};
}

Status ClientFiles::seal(uint64_t file, uint64_t offset, std::span<const std::byte> seal) {
  const Result<Open*> found = find(file, "file_seal");
  if (!found.ok()) return found.status();
  const Open& of = *found.value();
  if (!of.sealed) return about(refuse("the file was not opened with TAILRACE_FILE_SEAL"), "file_seal", of.path);
  if (seal.empty() || seal.size() > kMostSeal) {
    return about(refuse(fmt::format("found a seal of {} bytes, expected 1 to {}", seal.size(), kMostSeal)),
                 "file_seal", of.path);
  }
  if (const Status sound = check_file_extent({offset, seal.size()}); !sound.ok()) {
    return about(sound, "file_seal", of.path);
  }
  put_seal(opening(of), offset, seal);
  return {};
}

void ClientFiles::take_closed() {
  std::erase_if(closing_, [this](const Closing& of) {
    if (link_.is_pending(of.ticket)) return false;
    if (book_.closed(of.record)) own_.forget(of.record);
    return true;
  });
}

// For one more file: those that are being closed count until they are closed.
Status ClientFiles::make_room() {
  take_closed();
  if (open_.size() >= kMostOpenFiles) {
    return Status(TAILRACE_WRONG_ORDER, fmt::format("{} files are open already; close one first", open_.size()));
  }
  if (open_.size() + closing_.size() < kMostOpenFiles) return {};
  (void)link_.outwait(closing_.front().ticket);
  take_closed();
  if (open_.size() + closing_.size() < kMostOpenFiles) return {};
  return Status(TAILRACE_SERVER_LOST, "as many files as may be open are being closed, and nobody closes them");
}

std::vector<std::pair<std::string, std::string>> ClientFiles::unfinished() const {
  std::vector<std::pair<std::string, std::string>> all;
  for (const auto& [number, of] : open_) {
    if (of.published) all.emplace_back(of.path, "is left as '" + name_of_partial(of.path) + "'");
    if (of.sealed) all.emplace_back(of.path, "is left without its seal");
  }
  return all;
}

Result<ClientFiles::Open*> ClientFiles::find(uint64_t file, const char* verb) {
  const auto found = file <= last_ ? open_.find(static_cast<uint32_t>(file)) : open_.end();
  if (found != open_.end()) return &found->second;
  Fault fault;
  fault.code = file > 0 && file <= last_ ? TAILRACE_CLOSED : TAILRACE_INVALID_ARGUMENT;
  fault.operation = verb;
  fault.message = fmt::format(
      "{}: {}", verb,
      fault.code == TAILRACE_CLOSED ? "this file has been closed" : "found no file that this client has opened");
  return Status(std::move(fault));
}

Status ClientFiles::check_list(const char* verb, const Open& of, std::span<const tailrace_extent> extents,
                               const void* data, bool may_overlap) {
  if (extents.empty()) return about(refuse("found a list of no extents, expected at least one"), verb, of.path);
  uint64_t total = 0;
  bool sorted = true;
  for (size_t i = 0; i < extents.size(); ++i) {
    const Extent extent = extent_of(extents[i]);
    if (const Status sound = check_file_extent(extent); !sound.ok()) {
      return about(refuse(fmt::format("extent {}: {}", i, sound.fault().message)), verb, of.path);
    }
    if (extent.length > std::numeric_limits<size_t>::max() - total) {
      return about(refuse(fmt::format("extent {}: with it, the list has more bytes than memory can have", i)), verb,
                   of.path);
    }
    total += extent.length;
    sorted = sorted && (i == 0 || extent.offset >= extents[i - 1].offset + extents[i - 1].length);
  }
  if (data == nullptr && total > 0) {
    return about(refuse(fmt::format("found NULL, expected {} bytes of memory", total)), verb, of.path);
  }
  if (sorted || may_overlap) return {};
  list_.clear();
  for (const tailrace_extent& extent : extents) list_.push_back(extent_of(extent));
  const auto overlap = find_overlap(list_);
  if (!overlap) return {};
  const auto [one, other] = std::minmax(overlap->first, overlap->second);
  return about(
      refuse(fmt::format("extents {} ({} bytes at offset {}) and {} ({} bytes at offset {}) overlap: which "
                         "bytes shall be in the file?",
                         one, list_[one].length, list_[one].offset, other, list_[other].length, list_[other].offset)),
      verb, of.path);
}

// So that one verb is copied while others are written; always the same of a pool, so that lists are cut alike.
uint64_t ClientFiles::bytes_at_once() const { return std::max(memory_.size() / 4 / kPage * kPage, kPage); }

Descriptor ClientFiles::describe(Verb verb, uint32_t file, PoolBlock block, uint64_t bytes) const {
  Descriptor descriptor;
  descriptor.verb = verb;
  descriptor.variable = file;
  descriptor.bytes = {block.offset, bytes, block.index, 0, meter_.now().count()};
  return descriptor;
}

// Returns where in the pool the bytes go.
uint64_t ClientFiles::put_list(PoolBlock block, const Batch& batch) {
  FileList list;
  list.count = static_cast<uint32_t>(batch.extents.size());
  list.data = batch.data();
  std::byte* const at = memory_.at(block);
  std::memcpy(at, &list, sizeof list);
  std::memcpy(at + sizeof list, batch.extents.data(), batch.extents.size() * sizeof(Extent));
  return block.offset + list.data;
}

// Into the block, which is for that.
void ClientFiles::copy_batch(uint32_t file, uint32_t record, const Batch& batch, const std::byte* data,
                             uint64_t ticket, PoolBlock block) {
  const Nanoseconds start = meter_.now();
  const uint64_t to = batch.is_alone() ? block.offset : put_list(block, batch);
  std::byte* const bytes = memory_.bytes().data() + to;
  stream_copy(bytes, data, batch.bytes);
  meter_.counters().copying += meter_.now() - start;
  Descriptor verb = describe(Verb::file_write, file, block, batch.block());
  if (batch.is_alone()) {
    verb.verb = Verb::file_write_at;
    verb.at = {to, batch.extents[0].offset, block.index, static_cast<uint32_t>(batch.bytes), verb.bytes.handed};
  }
  verb.ticket = ticket;
  copied_.push_back({verb, book_.is_read(record) ? batch.extents : std::vector<Extent>(), batch.bytes, bytes});
}

Status ClientFiles::send_copied(uint32_t record) {
  Status status;
  for (const Copied& copied : copied_) {
    const PoolBlock block{copied.verb.bytes.block, copied.verb.bytes.address};
    if (!status.ok()) {
      memory_.free(block);
      continue;
    }
    const Result<uint64_t> sent = link_.send_with_block(copied.verb);
    status = sent.status();
    if (!sent.ok()) continue;
    book_.counts(record).bytes_written.add(copied.length);
    if (!copied.extents.empty()) own_.sent(record, block.index, sent.value(), copied.extents, copied.bytes);
  }
  copied_.clear();
  return status;
}

// Reads from the memory of pending writes, and returns true if they have all the bytes. Writes before the first read
// of a file are not known here, so that programs that do not read have no costs.
bool ClientFiles::read_own(uint32_t record, const Batch& batch, std::byte* data) {
  if (!reads_own_) return false;
  const bool found = own_.read(record, batch.extents, data, [this](uint32_t block, uint64_t sequence) {
    return link_.is_pending(block, sequence);
  });
  if (found) {
    book_.counts(record).served.add(batch.bytes);
    served_ += batch.bytes;
  }
  book_.set_read(record);
  return found;
}

Status ClientFiles::ask_batch(uint32_t file, const Batch& batch, std::byte* data) {
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
