#include "client/client_files.hpp"

#include <fmt/format.h>

#include <cstring>
#include <utility>

namespace tailrace::impl {
namespace {

Status about(const Status& status, const char* verb, const std::string& path) {
  Fault fault = status.fault();
  fault.message = fmt::format("{} '{}': {}", verb, path, fault.message);
  fault.operation = verb;
  fault.file = path;
  return Status(std::move(fault));
}

uint64_t bytes_of_path(const std::string& path) { return sizeof(FileOpening) + path.size(); }

}  // namespace

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
  const Result<std::string> plain = plain_file_path(storage_.file_roots(), path);
  if (!plain.ok()) return about(plain.status(), verb, given);
  bound_closing();
  const Nanoseconds start = meter_.now();
  const uint32_t record = book_.choose(plain.value());
  const uint64_t bytes = bytes_of_path(plain.value());
  const Result<PoolBlock> block = put_path(plain.value(), static_cast<uint32_t>(mode), record);
  if (!block.ok()) return about(block.status(), verb, given);
  bool in_use = false;
  const Status opened = link_.ask(transfer_.describe(Verb::file_open, ++last_, block.value(), bytes), in_use);
  if (!opened.ok()) {
    if (!in_use) memory_.free(block.value());
    return opened;
  }
  memory_.withhold(bytes);
  book_.opened(record, plain.value());
  Open& of = open_[last_];
  of.path = storage_.file_path(plain.value());
  of.writes = mode != TAILRACE_FILE_READ;
  of.published = (mode & TAILRACE_FILE_PUBLISH) != 0;
  of.sealed = (mode & TAILRACE_FILE_SEAL) != 0;
  of.block = block.value();
  of.bytes = bytes;
  of.file = {last_, record, transfer_.opened(identity_in(opening(of)))};
  if (keeps_names_) names_[last_] = plain.value();
  meter_.note_file(TraceEvent::What::file_open, last_, 0, start);
  return last_;
}

// Allocates a block and puts a mode and a path into it.
Result<PoolBlock> ClientFiles::put_path(const std::string& path, uint32_t mode, uint32_t record) {
  Result<PoolBlock> block = memory_.take(bytes_of_path(path));
  if (!block.ok()) return block;
  FileOpening opening;
  opening.mode = mode;
  opening.length = static_cast<uint32_t>(path.size());
  opening.record = record;
  std::byte* const at = memory_.at(block.value());
  std::memcpy(at, &opening, sizeof opening);
  std::memcpy(at + sizeof opening, path.data(), path.size());
  return block;
}

Status ClientFiles::write(uint64_t file, std::span<const tailrace_extent> extents, const void* data) {
  return hand_over(file, extents, data, FileTransfer::Way::copied).status();
}

Result<uint64_t> ClientFiles::iwrite(uint64_t file, std::span<const tailrace_extent> extents, const void* data) {
  return hand_over(file, extents, data, FileTransfer::Way::copied_with_ticket);
}

Result<uint64_t> ClientFiles::borrow(uint64_t file, std::span<const tailrace_extent> extents, const void* data) {
  return hand_over(file, extents, data, FileTransfer::Way::borrowed);
}

Result<uint64_t> ClientFiles::hand_over(uint64_t file, std::span<const tailrace_extent> extents, const void* data,
                                        FileTransfer::Way way) {
  const Result<const Open*> found = find_to_write(file, extents, data);
  if (!found.ok()) return found.status();
  const Open& of = *found.value();
  const Nanoseconds start = meter_.now();
  FileRecord& counts = book_.counts(of.file.record);
  const uint64_t before = counts.bytes_written.get();
  const Result<uint64_t> ticket = transfer_.write(of.file, extents, data, way);
  if (!ticket.ok()) return about(ticket.status(), "file_write", of.path);
  counts.writes.add();
  book_.times(of.file.record).handover.add(static_cast<uint64_t>((meter_.now() - start).count()));
  meter_.note_file(TraceEvent::What::file_write, of.file.number, counts.bytes_written.get() - before, start);
  return ticket;
}

Result<const ClientFiles::Open*> ClientFiles::find_to_write(uint64_t file, std::span<const tailrace_extent> extents,
                                                            const void* data) {
  const Result<Open*> found = find(file, "file_write");
  if (!found.ok()) return found.status();
  const Open& of = *found.value();
  if (!of.writes) return about(refuse("the file was opened for reading"), "file_write", of.path);
  if (Status sound = transfer_.check(extents, data, false); !sound.ok()) return about(sound, "file_write", of.path);
  return &of;
}

Status ClientFiles::read(uint64_t file, std::span<const tailrace_extent> extents, void* data) {
  const Result<Open*> found = find(file, "file_read");
  if (!found.ok()) return found.status();
  const Open& of = *found.value();
  if (Status sound = transfer_.check(extents, data, true); !sound.ok()) return about(sound, "file_read", of.path);
  const Nanoseconds start = meter_.now();
  FileRecord& counts = book_.counts(of.file.record);
  const uint64_t before = counts.bytes_read.get();
  const Status done = transfer_.read(of.file, extents, data);
  counts.reads.add();
  end_wait(TraceEvent::What::file_read, of.file, counts.bytes_read.get() - before, start);
  return done;
}

// Notes the end of a call that waited.
void ClientFiles::end_wait(TraceEvent::What what, FileTransfer::File of, uint64_t bytes, Nanoseconds start) {
  book_.times(of.record).waiting.add(static_cast<uint64_t>((meter_.now() - start).count()));
  meter_.note_file(what, of.number, bytes, start);
}

Status ClientFiles::sync(uint64_t file) {
  const Result<Open*> found = find(file, "file_sync");
  return found.ok() ? ask_of_whole(found.value()->file, Verb::file_sync, {}) : found.status();
}

Result<uint64_t> ClientFiles::size(uint64_t file) {
  const Result<Open*> found = find(file, "file_size");
  if (!found.ok()) return found.status();
  if (Status asked = ask_of_whole(found.value()->file, Verb::file_size, {}); !asked.ok()) return asked;
  return size_in(opening(*found.value()));
}

Status ClientFiles::truncate(uint64_t file, uint64_t bytes) {
  return change_size(file, Verb::file_truncate, "file_truncate", {0, bytes});
}

Status ClientFiles::allocate(uint64_t file, uint64_t offset, uint64_t bytes) {
  return bytes == 0 ? Status() : change_size(file, Verb::file_allocate, "file_allocate", {offset, bytes});
}

Status ClientFiles::change_size(uint64_t file, Verb verb, const char* name, Descriptor::Range range) {
  const Result<Open*> found = find(file, name);
  if (!found.ok()) return found.status();
  const Open& of = *found.value();
  if (!of.writes) return about(refuse("the file was opened for reading"), name, of.path);
  if (Status sound = check_file_extent({range.offset, range.length}); !sound.ok()) return about(sound, name, of.path);
  return ask_of_whole(of.file, verb, range);
}

// Asks the server something about a file as a whole, and waits. The server answers after the client's own writes.
Status ClientFiles::ask_of_whole(FileTransfer::File of, Verb verb, Descriptor::Range range) {
  const Nanoseconds start = meter_.now();
  Descriptor descriptor = transfer_.describe(verb, of.number, {}, 0);
  descriptor.range = range;
  bool in_use = false;
  Status answered = link_.ask(descriptor, in_use);
  end_wait(TraceEvent::What::file_sync, of, 0, start);
  return answered;
}

Status ClientFiles::remove(std::string_view path) {
  const char* const verb = "file_remove";
  const Result<std::string> plain = plain_file_path(storage_.file_roots(), path);
  if (!plain.ok()) return about(plain.status(), verb, std::string(path));
  const Result<PoolBlock> block = put_path(plain.value(), kFileWrite, 0);
  if (!block.ok()) return about(block.status(), verb, std::string(path));
  bool in_use = false;
  const uint64_t bytes = bytes_of_path(plain.value());
  Status removed = link_.ask(transfer_.describe(Verb::file_remove, 0, block.value(), bytes), in_use);
  if (!in_use) memory_.free(block.value());
  return removed;
}

Status ClientFiles::close(uint64_t file) {
  const Nanoseconds start = meter_.now();
  const Result<Open*> found = find(file, "file_close");
  if (!found.ok()) return found.status();
  const FileTransfer::File of = found.value()->file;
  const Result<uint64_t> ticket = iclose(file);
  if (!ticket.ok()) return ticket.status();
  const Status closed = link_.await(ticket.value());
  end_wait(TraceEvent::What::file_close, of, 0, start);
  take_closed();
  return closed;
}

// A server that replaces a dead one reads the block of the file_open until the close has ended.
Result<uint64_t> ClientFiles::iclose(uint64_t file) {
  const Result<Open*> found = find(file, "file_close");
  if (!found.ok()) return found.status();
  Result<OpenTicket> ticket = link_.open_ticket(TraceEvent::kNone);
  if (!ticket.ok()) return ticket.status();
  const Open of = *found.value();
  Descriptor verb = transfer_.describe(Verb::file_close, of.file.number, of.block, of.bytes);
  verb.ticket = ticket.value().number();
  if (const Result<uint64_t> sent = link_.send_with_block(verb); !sent.ok()) return sent;
  memory_.release(of.bytes);
  closing_.push_back({ticket.value().number(), of.file});
  open_.erase(of.file.number);
  return ticket.value().sent();
}

// The server notes a failure of the file in this block.
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
    book_.closed(of.file.record);
    transfer_.closed(of.file.key);
    return true;
  });
}

// Files that are being closed hold descriptors, and the program does not see that: one that makes file after file
// must not run out of them.
void ClientFiles::bound_closing() {
  constexpr size_t kMostClosing = 64;
  take_closed();
  if (closing_.size() < kMostClosing) return;
  (void)link_.outwait(closing_.front().ticket);
  take_closed();
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

}  // namespace tailrace::impl
