#include "storage/remote/remote_storage.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <thread>
#include <utility>

#include "base/names/counted.hpp"

namespace tailrace::impl {
namespace {

constexpr uint32_t kMostSegments = 1024;
constexpr uint64_t kTogether = uint64_t{256} << 10;  // most bytes of a message of several transfers
constexpr uint64_t kSmall = uint64_t{16} << 10;      // bytes of a message whose answer comes soon
constexpr Nanoseconds kLook = std::chrono::milliseconds(200);
constexpr Nanoseconds kSoon = std::chrono::milliseconds(1);  // for operations of this node, which wake no link

uint64_t bytes_of(std::span<const iovec> segments) {
  uint64_t bytes = 0;
  for (const iovec& segment : segments) bytes += segment.iov_len;
  return bytes;
}

// Appends the `length` bytes of `segments` that follow the first `skip`.
void append_part(std::vector<iovec>& to, std::span<const iovec> segments, uint64_t skip, uint64_t length) {
  for (const iovec& segment : segments) {
    if (length == 0) return;
    const size_t before = std::min<uint64_t>(segment.iov_len, skip);
    skip -= before;
    const size_t part = std::min<uint64_t>(segment.iov_len - before, length);
    if (part > 0) to.push_back({static_cast<std::byte*>(segment.iov_base) + before, part});
    length -= part;
  }
}

ForwardTerms terms_of(const RemoteStorage::Options& options) {
  return {.role = ForwardTerms::Role::client, .process = options.process};
}

int64_t error_of(const Status& failure) {
  const int error = failure.fault().system_errno;
  return error != 0 ? -error : -EIO;
}

}  // namespace

Result<std::unique_ptr<RemoteStorage>> RemoteStorage::create(std::unique_ptr<Transport> transport,
                                                             std::unique_ptr<Storage> local, const Clock& clock,
                                                             Doorbell& doorbell, Log& log, const Options& options) {
  TAILRACE_REQUIRE(!options.servers.empty());
  TAILRACE_REQUIRE((options.on_loss == RemoteFiles::OnLoss::direct) == (local != nullptr));
  std::unique_ptr<RemoteStorage> storage(
      new RemoteStorage(std::move(transport), std::move(local), clock, doorbell, log, options));
  constexpr int kRounds = 5;  // of attempts to reach the first forwarder
  ForwarderSet& forwarders = storage->forwarders_;
  Status reached;
  for (int round = 0; round < kRounds; ++round) {
    if (round > 0) forwarders.pause(Reach::kBetween);
    reached = forwarders.reach_all();
    if (reached.ok()) return storage;
    if (!forwarders.refusal().ok()) return reached;
    // The configuration is wrong: the forwarder lives, and the files belong there.
    for (size_t i = 0; i < forwarders.size(); ++i) {
      if (!forwarders.refuses_key(i)) continue;
      return Status(TAILRACE_INVALID_CONFIG,
                    "forward.key: found no forwarder that takes it: " + reached.fault().message);
    }
  }
  if (options.on_loss == OnLoss::direct) return storage;
  return Status(TAILRACE_SERVER_LOST, "forward.servers: found no forwarder that answers: " + reached.fault().message);
}

RemoteStorage::RemoteStorage(std::unique_ptr<Transport> transport, std::unique_ptr<Storage> local, const Clock& clock,
                             Doorbell& doorbell, Log& log, const Options& options)
    : doorbell_(doorbell),
      log_(log),
      options_(options),
      capabilities_{fmt::format("remote, forwarders {}", fmt::join(options.servers, ", ")), options.depth,
                    kMostSegments, 1},
      transport_(std::move(transport)),
      local_(std::move(local)),
      links_(*transport_, clock, log, encode_terms(terms_of(options), options.name), options.links),
      forwarders_(links_, clock, doorbell, log,
                  {.addresses = options.servers, .output = options.output, .grace = options.grace}),
      files_(forwarders_, log, options.on_loss, options.spread, local_.get()),
      calls_(
          files_, [this](auto start, auto is_over) { carry_out(start, is_over); },
          [this](const Transfer& transfer) { return carry_out(transfer); }),
      posted_(doorbell),
      slots_(options.depth),
      done_(options.depth + 1) {
  for (uint32_t slot = 0; slot < slots_.size(); ++slot) free_slots_.push_back(slot);
}

RemoteStorage::~RemoteStorage() { forwarders_.leave(); }

void RemoteStorage::use_memory(std::span<std::byte> memory) { transport_->use_memory(memory); }

// ---- submitting ------------------------------------------------------------------------------------------------

void RemoteStorage::submit(const Transfer& transfer) {
  if (!options_.spread) return waiting_.push_back(take_slot(transfer));
  if (!uncut_.empty() || !cut(transfer)) uncut_.push_back(transfer);
}

// Cuts a transfer at the borders of domains. A sync goes to all forwarders that have the file open. Returns false,
// and does nothing, while a part of the file is being opened.
bool RemoteStorage::cut(const Transfer& transfer) {
  std::vector<Transfer> pieces;
  std::vector<uint64_t> lengths;
  if (transfer.kind == Transfer::Kind::sync) {
    for (const FileHandle part : files_.all_of(transfer.file)) {
      pieces.push_back(transfer);
      pieces.back().file = part;
    }
    lengths.resize(pieces.size());
  }
  const uint64_t bytes = bytes_of(transfer.segments);
  for (uint64_t at = 0; at < bytes;) {
    const std::optional<RemoteFiles::Domain> domain =
        files_.domain_at(transfer.file, transfer.offset + at, bytes - at);
    if (!domain) return false;
    pieces.push_back(transfer);
    pieces.back().file = domain->file;
    pieces.back().offset += at;
    lengths.push_back(domain->length);
    at += domain->length;
  }
  if (pieces.size() < 2) {
    waiting_.push_back(take_slot(pieces.empty() ? transfer : pieces.front()));
    return true;
  }
  const auto whole = std::make_shared<Cut>();
  whole->tag = transfer.tag;
  whole->left = pieces.size();
  whole->pieces.resize(pieces.size());
  uint64_t skip = 0;
  for (size_t i = 0; i < pieces.size(); ++i) {
    Cut::Piece& piece = whole->pieces[i];
    piece.length = lengths[i];
    append_part(piece.segments, transfer.segments, skip, piece.length);
    skip += piece.length;
    pieces[i].segments = piece.segments;
    const uint32_t slot = take_slot(pieces[i]);
    slots_[slot].cut = whole;
    slots_[slot].piece = i;
    waiting_.push_back(slot);
  }
  return true;
}

// Returns the result of a transfer whose pieces have all ended: the bytes before the first that is missing, or why it
// is.
int64_t RemoteStorage::joined(const Cut& cut) {
  int64_t done = 0;
  for (const Cut::Piece& piece : cut.pieces) {
    if (piece.result < 0) return done > 0 ? done : piece.result;
    done += piece.result;
    if (static_cast<uint64_t>(piece.result) < piece.length) break;
  }
  return done;
}

uint32_t RemoteStorage::take_slot(const Transfer& transfer) {
  TAILRACE_REQUIRE(transfer.segments.size() <= kMostSegments);
  if (free_slots_.empty()) {  // pieces, and what calls read
    free_slots_.push_back(static_cast<uint32_t>(slots_.size()));
    slots_.emplace_back();
  }
  const uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  slots_[slot] = {.used = true, .transfer = transfer};
  return slot;
}

// ---- calls that wait -------------------------------------------------------------------------------------------

FileSystem& RemoteStorage::files_of_threads() {
  const std::thread::id engine = std::this_thread::get_id();
  if (engine_ != engine) engine_ = engine;  // other threads read it
  return calls_;
}

// Carries a task out while its caller waits. While other threads call, only the engine's drives this: a lock that one
// of them took may end on another.
void RemoteStorage::carry_out(FunctionRef<void()> start, FunctionRef<bool()> is_over) {
  if (engine_ != std::thread::id() && engine_ != std::this_thread::get_id()) {
    return posted_.carry_out(start, is_over);
  }
  start();
  progress();
  while (!is_over()) {
    forwarders_.wait(files_.local().any_under_way() ? kSoon : kLook);
    progress();
    doorbell_.wake();  // the ends of others may be among what was taken
  }
}

Task<int64_t> RemoteStorage::carry_out(Transfer transfer) {
  const uint32_t slot = take_slot(transfer);
  slots_[slot].alone = true;
  waiting_.push_back(slot);
  Waits::Condition over(files_.waits(), [this, slot] { return slots_[slot].over && slots_[slot].borrowed == 0; });
  co_await over;
  const int64_t result = slots_[slot].result;
  release(slot);
  co_return result;
}

// ---- operations ------------------------------------------------------------------------------------------------

void RemoteStorage::submit(FileOperation operation) {
  if (operation.kind == FileOperation::Kind::call) return ended_.push_back(impl::carry_out(calls_, operation));
  operations_.push_back(files_.carry_out(std::move(operation)));
  operations_.back().start();
}

std::optional<FileOperationEnd> RemoteStorage::reap_operation() {
  if (!ended_.empty()) {
    FileOperationEnd end = std::move(ended_.front());
    ended_.pop_front();
    return end;
  }
  const auto over =
      std::find_if(operations_.begin(), operations_.end(), [](const auto& one) { return one.is_over(); });
  if (over == operations_.end()) return std::nullopt;
  FileOperationEnd end = over->take();
  operations_.erase(over);
  return end;
}

std::optional<Nanoseconds> RemoteStorage::due() const {
  if (looks()) return forwarders_.now();
  std::optional<Nanoseconds> due = forwarders_.due();
  if (const auto waits = files_.due()) due = std::min(due.value_or(*waits), *waits);
  return due;
}

// ---- driving -----------------------------------------------------------------------------------------------------

size_t RemoteStorage::reap(std::span<Completion> done) {
  progress();
  size_t count = 0;
  while (count < done.size() && !done_.empty()) done[count++] = done_.pop();
  if (count == 0 && looks()) std::this_thread::yield();  // the program's own threads come first
  return count;
}

void RemoteStorage::progress() {
  events_.clear();
  forwarders_.poll(events_);
  for (size_t i = 0; i < events_.size(); ++i) take(events_[i]);
  files_.progress();
  posted_.progress();
  files_.leave_leaving();
  while (!uncut_.empty() && cut(uncut_.front())) uncut_.pop_front();
  send_waiting();
  // This node itself has carried out some.
  files_.local().reap();
  here_.resize(under_way_here_);
  const size_t count = under_way_here_ > 0 ? local_->reap(here_) : 0;
  under_way_here_ -= static_cast<uint32_t>(count);
  for (size_t i = 0; i < count; ++i) end(static_cast<uint32_t>(here_[i].tag), here_[i].result);
  const bool any_goes_on = files_.waits().progress();  // what carry_out() waited for has ended
  const bool any_ended =
      std::any_of(operations_.begin(), operations_.end(), [](const auto& one) { return one.is_over(); });
  if (any_goes_on || any_ended) doorbell_.wake();
}

// Sends what can be sent now. Transfers of a forwarder without room stay, in their order.
void RemoteStorage::send_waiting() {
  std::map<size_t, Batch> batches;
  std::deque<uint32_t> left;
  for (const uint32_t slot : std::exchange(waiting_, {})) {
    const RemoteFiles::File& file = files_.at(slots_[slot].transfer.file);
    if (file.here) {
      if (!begin_here(slot, file.local)) left.push_back(slot);
    } else if (!file.failure.ok()) {
      end(slot, error_of(file.failure));
    } else if (!files_.is_linked(file) || !forwarders_.has_room(file.forwarder)) {
      left.push_back(slot);
    } else if (Batch& batch = batches[file.forwarder]; !add(batch, slot)) {
      send(file.forwarder, batch);
      if (!forwarders_.has_room(file.forwarder) || !add(batch, slot)) left.push_back(slot);
    }
  }
  for (auto& [forwarder, batch] : batches) {
    if (!batch.slots.empty()) send(forwarder, batch);
  }
  waiting_.insert(waiting_.begin(), left.begin(), left.end());
}

// Adds a transfer to a message. Returns false, and adds nothing, if it must go with the next one.
bool RemoteStorage::add(Batch& batch, uint32_t slot) {
  Slot& of = slots_[slot];
  const Transfer& transfer = of.transfer;
  const uint64_t length = std::min(bytes_of(transfer.segments), kMostForwarded);
  const bool moves = transfer.kind != Transfer::Kind::sync;
  if (moves && length == 0) {
    end(slot, 0);
    return true;
  }
  if (!batch.slots.empty()) {
    const bool full = batch.records.size() == kMostRecords || batch.bytes + length > kTogether ||
                      batch.bulk.size() + transfer.segments.size() > Transport::kMostSegments;
    if (full) return false;
  }
  TransferRecord record;
  record.file = files_.at(transfer.file).remote;
  record.kind = !moves                                  ? TransferRecord::Kind::sync
                : transfer.kind == Transfer::Kind::read ? TransferRecord::Kind::read
                                                        : TransferRecord::Kind::write;
  record.confirm = options_.confirm;
  record.offset = moves ? transfer.offset : 0;
  record.length = moves ? length : 0;
  of.length = length;
  if (transfer.kind == Transfer::Kind::write) append_part(batch.bulk, transfer.segments, 0, length);
  batch.records.push_back(record);
  batch.slots.push_back(slot);
  batch.bytes += length;
  return true;
}

void RemoteStorage::send(size_t forwarder, Batch& batch) {
  const uint64_t number = forwarders_.send(forwarder, batch.records, batch.bulk);
  for (const uint32_t slot : batch.slots) ++slots_[slot].borrowed;
  if (batch.bytes <= kSmall) look_until_ = forwarders_.now() + options_.look;
  messages_[number] = {.forwarder = forwarder, .link = forwarders_.link(forwarder), .slots = std::move(batch.slots)};
  batch = {};
}

// Lets this node itself carry a transfer out. Returns false if it has no room now.
bool RemoteStorage::begin_here(uint32_t slot, FileHandle file) {
  if (under_way_here_ == local_->capabilities().depth) return false;
  Transfer transfer = slots_[slot].transfer;
  transfer.direct = false;
  transfer.file = file;
  transfer.tag = slot;
  if (transfer.segments.size() > local_->capabilities().max_segments) {
    transfer.segments = transfer.segments.first(local_->capabilities().max_segments);
  }
  ++under_way_here_;
  local_->submit(transfer);
  return true;
}

// ---- what comes back -------------------------------------------------------------------------------------------

void RemoteStorage::take(ForwarderEvent& event) {
  switch (event.kind) {
    case ForwarderEvent::Kind::sent: {
      const auto found = messages_.find(event.number);
      if (found == messages_.end()) return;
      found->second.sent = true;
      settle(event.number, found->second);
      return;
    }
    case ForwarderEvent::Kind::ended: return note_ends(event.forwarder, event);
    case ForwarderEvent::Kind::answered:
      return files_.waits().answered(event.number, {std::move(event.answer), std::move(event.bytes)});
    case ForwarderEvent::Kind::received: return note_received(event);
    case ForwarderEvent::Kind::failed: return note_loss(event.loss, event.number);
    case ForwarderEvent::Kind::leaving: return;
    case ForwarderEvent::Kind::lost: return take_back(event.number);
  }
}

void RemoteStorage::note_ends(size_t forwarder, ForwarderEvent& event) {
  const auto found = messages_.find(event.number);
  // Another answer of this poll may have ended the link: then the transfers have been taken back already.
  if (found == messages_.end() || found->second.answered) return;
  Message& message = found->second;
  if (!fits(message, event)) {
    log_.error("forwarder {}: it returned impossible results of transfers", forwarders_.address(forwarder));
    const uint64_t link = message.link;
    forwarders_.give_up(forwarder);
    return take_back(link);
  }
  message.answered = true;
  message.results = std::move(event.results);
  message.arrival = event.arrival;
  message.bulk = event.bulk;
  if (message.bulk > 0) fetch(event.number, message);
  settle(event.number, message);
}

// Returns true if the results are possible for these transfers, and the bytes are those of the reads.
bool RemoteStorage::fits(const Message& message, const ForwarderEvent& event) const {
  uint64_t read = 0;
  for (size_t i = 0; i < message.slots.size(); ++i) {
    const Slot& slot = slots_[message.slots[i]];
    const int64_t result = event.results[i];
    if (result < -4095) return false;
    if (result > 0 && static_cast<uint64_t>(result) > slot.length) return false;
    if (result > 0 && slot.transfer.kind == Transfer::Kind::read) read += static_cast<uint64_t>(result);
  }
  return read == event.bulk;
}

// Fetches the bytes of reads: straight into the memory of the only reader, else into a copy.
void RemoteStorage::fetch(uint64_t number, Message& message) {
  message.coming = true;
  const Slot& first = slots_[message.slots.front()];
  std::span<std::byte> into;
  if (message.slots.size() == 1 && first.transfer.segments.front().iov_len >= message.bulk) {
    into = {static_cast<std::byte*>(first.transfer.segments.front().iov_base), message.bulk};
  } else {
    message.copy = std::make_unique_for_overwrite<std::byte[]>(message.bulk);
    into = {message.copy.get(), message.bulk};
  }
  forwarders_.receive(message.forwarder, message.link, message.arrival, into, number);
}

void RemoteStorage::note_received(ForwarderEvent& event) {
  const auto found = messages_.find(event.number);
  if (found == messages_.end()) return;
  Message& message = found->second;
  message.coming = false;
  if (!event.status.ok()) {
    message.answered = false;
    const bool gone = forwarders_.is_lost(message.forwarder) || forwarders_.link(message.forwarder) != message.link;
    if (gone) take_back(message.link);  // else the loss is about to come
    return;
  }
  if (message.copy) scatter(message);
  settle(event.number, message);
}

void RemoteStorage::scatter(Message& message) {
  const std::byte* from = message.copy.get();
  for (size_t i = 0; i < message.slots.size(); ++i) {
    const Slot& slot = slots_[message.slots[i]];
    if (slot.transfer.kind != Transfer::Kind::read || message.results[i] <= 0) continue;
    auto left = static_cast<uint64_t>(message.results[i]);
    for (const iovec& segment : slot.transfer.segments) {
      const size_t part = std::min<uint64_t>(segment.iov_len, left);
      std::memcpy(segment.iov_base, from, part);
      from += part;
      left -= part;
    }
  }
}

// Ends the transfers of a message that is answered, and whose memory is not used any more.
void RemoteStorage::settle(uint64_t number, Message& message) {
  if (!message.sent || !message.answered || message.coming) return;
  const Message over = std::move(message);
  messages_.erase(number);
  for (size_t i = 0; i < over.slots.size(); ++i) {
    Slot& slot = slots_[over.slots[i]];
    --slot.borrowed;
    if (over.results.empty()) {
      // Its forwarder was lost, and the transfer has been sent again.
      if (slot.over && slot.borrowed == 0) end(over.slots[i], slot.result);
      continue;
    }
    const bool unsure = slot.transfer.kind == Transfer::Kind::write && over.results[i] > 0 &&
                        options_.confirm == TransferRecord::Confirm::received;
    RemoteFiles::File& file = files_.at(slot.transfer.file);
    if (unsure) file.unsure = true;
    if (slot.transfer.kind == Transfer::Kind::sync && over.results[i] == 0) file.unsure = false;
    end(over.slots[i], over.results[i]);
  }
}

// A write that was confirmed as received has failed: whatever depends on the whole file must not succeed.
void RemoteStorage::note_loss(const LossRecord& loss, uint64_t link) {
  files_.fail_file(link, loss.file,
                   Status::of_errno(fmt::format("write {} at {}, confirmed as received,",
                                                counted(loss.length, "byte"), loss.offset),
                                    "", loss.system_errno));
}

// Takes back what was not answered on a link that is gone, to be sent again.
void RemoteStorage::take_back(uint64_t link) {
  std::deque<uint32_t> back;
  for (auto it = messages_.begin(); it != messages_.end();) {
    auto& [number, message] = *it;
    ++it;
    if (message.link != link || message.answered) continue;
    message.answered = true;
    message.results.clear();
    back.insert(back.end(), message.slots.begin(), message.slots.end());
    settle(number, message);
  }
  waiting_.insert(waiting_.begin(), back.begin(), back.end());
}

// Notes the result of a transfer. It ends when the transport does not use its memory any more.
void RemoteStorage::end(uint32_t slot, int64_t result) {
  Slot& of = slots_[slot];
  of.over = true;
  of.result = result;
  if (of.borrowed > 0 || of.alone) return;
  if (const std::shared_ptr<Cut> cut = of.cut) {
    cut->pieces[of.piece].result = result;
    release(slot);
    if (--cut->left > 0) return;
    done_.push({cut->tag, joined(*cut)});
  } else {
    done_.push({of.transfer.tag, result});
    release(slot);
  }
  doorbell_.ring();
}

void RemoteStorage::release(uint32_t slot) {
  slots_[slot] = {};
  free_slots_.push_back(slot);
}

}  // namespace tailrace::impl
