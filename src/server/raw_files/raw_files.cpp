#include "server/raw_files/raw_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/memory/range_allocator.hpp"
#include "base/names/counted.hpp"

namespace tailrace::impl {
namespace {

const char* name_of(Verb verb) {
  switch (verb) {
    case Verb::file_open: return "file_open";
    case Verb::file_write:
    case Verb::file_write_at:
    case Verb::file_borrow: return "file_write";
    case Verb::file_read: return "file_read";
    case Verb::file_sync: return "file_sync";
    case Verb::file_close: return "file_close";
    case Verb::file_size: return "file_size";
    case Verb::file_truncate: return "file_truncate";
    case Verb::file_allocate: return "file_allocate";
    case Verb::file_remove: return "file_remove";
    default: break;
  }
  TAILRACE_ASSERT(false);
}

// Returns true if the verb is about an open file as a whole.
bool is_of_whole(Verb verb) {
  return verb == Verb::file_sync || verb == Verb::file_size || verb == Verb::file_truncate ||
         verb == Verb::file_allocate;
}
bool changes_size(Verb verb) { return verb == Verb::file_truncate || verb == Verb::file_allocate; }
bool has_block(Verb verb) { return !is_of_whole(verb) && verb != Verb::file_borrow; }
bool has_list(Verb verb) { return verb == Verb::file_read || writes_file(verb); }

// Returns "3 extents from offset 0 to 4096", for messages.
std::string text_of(const std::vector<Piece>& pieces) {
  if (pieces.size() == 1) {
    return fmt::format("{} at offset {}", counted(pieces[0].extent.length, "byte"), pieces[0].extent.offset);
  }
  uint64_t begin = kMostFileEnd;
  uint64_t end = 0;
  for (const Piece& piece : pieces) {
    begin = std::min(begin, piece.extent.offset);
    end = std::max(end, piece.extent.end());
  }
  return fmt::format("{} extents from offset {} to {}", pieces.size(), begin, end);
}

Status refuse(const std::string& what) { return Status(TAILRACE_INVALID_ARGUMENT, what); }

// Returns TAILRACE_NOT_FOUND if the system says that the file does not exist, else `why`.
Status not_opened(const Status& why) {
  if (why.ok() || why.fault().system_errno != ENOENT) return why;
  Fault fault = why.fault();
  fault.code = TAILRACE_NOT_FOUND;
  return Status(std::move(fault));
}

std::string directory_of(const std::string& path) { return path.substr(0, path.rfind('/')); }

// Releases a file that is not the one which an earlier server had open: its name leads to another one now.
Result<SharedFile*> expect_same(SharedFiles& files, SharedFile& file, FileIdentity expected) {
  if (!expected.is_known() || file.identity == expected) return &file;
  Fault fault;
  fault.code = TAILRACE_IO_ERROR;
  fault.system_errno = ESTALE;
  fault.message = fmt::format(
      "found another file under the name '{}', expected the one that was open when its server "
      "ended",
      file.path);
  files.release(file, [] {});
  return Status(std::move(fault));
}

void close_directory(Engine& engine, FileId directory) {
  Request close;
  close.operation = Operation::close;
  close.file = directory;
  engine.submit(std::move(close));
}

Result<SharedFiles::Place> place_of(const StorageSettings& storage, const std::string& path) {
  const Result<FileBelow> at = file_below(storage.file_roots(), path);
  if (!at.ok()) return at.status();
  return SharedFiles::Place{storage.file_path(path), at.value().root};
}

}  // namespace

RawFiles::RawFiles(const StorageSettings& storage, bool by_count, uint32_t client, ClientEnds& to_client,
                   Engine& engine, SharedFiles& files, Host& host, FileMeter& meter)
    : storage_(storage),
      by_count_(by_count),
      client_(client),
      to_client_(to_client),
      engine_(engine),
      files_(files),
      host_(host),
      meter_(meter) {}

// ---- checks of verbs ------------------------------------------------------------------------------------------

Status RawFiles::check(const Descriptor& descriptor) {
  if (descriptor.iteration != -1) return refuse("an iteration with a raw file");
  if (has_block(descriptor.verb)) {
    if (Status sound = check_block(descriptor); !sound.ok()) return sound;
  }
  if (!writes_file(descriptor.verb) && descriptor.ticket == kNoTicket) return refuse("a question without a ticket");
  switch (descriptor.verb) {
    case Verb::file_open:
      if (descriptor.variable <= last_) return refuse("a file's number for the second time");
      [[fallthrough]];
    case Verb::file_remove:
      if (open_.size() + names_ >= to_client_.blocks()) return refuse("more files than its pool has blocks for");
      return read_file_opening(block_of(descriptor)).status();
    default: return check_open_file(descriptor);
  }
}

Status RawFiles::check_block(const Descriptor& descriptor) const {
  const Descriptor::Bytes& bytes = descriptor.bytes;
  const uint64_t pool = to_client_.memory().size();
  if (bytes.address > pool || descriptor.block_bytes() > pool - bytes.address)
    return refuse("a block outside its pool");
  if (bytes.address % RangeAllocator::kGrain != 0) return refuse("a block that is not aligned");
  if (bytes.block >= to_client_.blocks()) return refuse("a block of an impossible number");
  return {};
}

Status RawFiles::check_open_file(const Descriptor& descriptor) {
  const auto found = open_.find(descriptor.variable);
  if (found == open_.end() || found->second.closing) return refuse("a verb about a file that it has not opened");
  const bool changes = writes_file(descriptor.verb) || changes_size(descriptor.verb);
  if (changes && !found->second.writes) return refuse("a change of a file that it only reads");
  if (changes_size(descriptor.verb)) return check_file_extent({descriptor.range.offset, descriptor.range.length});
  if (descriptor.verb == Verb::file_close && descriptor.bytes.block != found->second.block)
    return refuse("a close with a block that is not its file's");
  if (!has_list(descriptor.verb)) return {};
  Result<std::vector<Piece>> pieces = read_pieces(descriptor);
  if (!pieces.ok()) return pieces.status();
  checked_ = {descriptor.sequence, std::move(pieces).value()};
  return {};
}

std::span<std::byte> RawFiles::block_of(const Descriptor& descriptor) const {
  return to_client_.memory().subspan(descriptor.bytes.address, descriptor.block_bytes());
}

Result<std::vector<Piece>> RawFiles::read_pieces(const Descriptor& descriptor) const {
  const bool borrows = descriptor.verb == Verb::file_borrow;
  if (!borrows && descriptor.verb != Verb::file_write_at) return read_file_list(block_of(descriptor));
  const Extent extent{descriptor.at.offset, descriptor.at.length};
  if (Status sound = check_file_extent(extent); !sound.ok()) return sound;
  if (extent.length == 0) return refuse("an empty extent");
  // A write only reads the client's own memory.
  std::byte* const own = borrows ? reinterpret_cast<std::byte*>(descriptor.at.address) : nullptr;
  return std::vector<Piece>{{extent, borrows ? own : block_of(descriptor).data()}};
}

// begin() uses what check() has read: the client may have changed the block since.
Result<std::vector<Piece>> RawFiles::pieces_of(const Descriptor& descriptor) {
  Checked checked = std::exchange(checked_, {});
  if (checked.sequence == descriptor.sequence && !checked.pieces.empty()) return std::move(checked.pieces);
  return read_pieces(descriptor);
}

// ---- verbs ----------------------------------------------------------------------------------------------------

void RawFiles::begin(const Descriptor& descriptor) {
  if (descriptor.verb == Verb::file_open) return open(descriptor, false);
  if (descriptor.verb == Verb::file_remove) return remove(descriptor, false);
  const auto found = open_.find(descriptor.variable);
  if (found == open_.end()) {
    // An earlier server closed the file and died before it could answer.
    const bool closed = descriptor.verb == Verb::file_close;
    return end(descriptor, closed ? Status() : refuse("the file is not open"), {}, {});
  }
  Open& of = found->second;
  if (descriptor.verb == Verb::file_close) {
    of.closing = true;
    return wait(descriptor, of);
  }
  if (!of.failure.ok()) {
    if (writes_file(descriptor.verb) && !of.opening.empty()) set_failed(of.opening);
    return end(descriptor, of.failure, of.path, {});
  }
  if (is_of_whole(descriptor.verb)) return wait(descriptor, of);
  begin_list(descriptor, of, false);
}

void RawFiles::wait(const Descriptor& descriptor, Open& of) {
  of.waiting.push_back(descriptor);
  waiting_.insert(descriptor.variable);
}

void RawFiles::open(const Descriptor& descriptor, bool again) {
  last_ = std::max(last_, descriptor.variable);
  const Result<FileToOpen> wanted = read_file_opening(block_of(descriptor));
  ++names_;
  if (!wanted.ok()) return opened(descriptor, {}, again, wanted.status());
  open_shared(wanted.value(), again,
              [this, descriptor, wanted = wanted.value(), again](const Result<SharedFile*>& file) {
                opened(descriptor, wanted, again, file);
              });
}

// `wanted`: empty if it could not be read.
void RawFiles::opened(const Descriptor& descriptor, const FileToOpen& wanted, bool again, Result<SharedFile*> file) {
  --names_;
  const std::string path = wanted.path.empty() ? "" : storage_.file_path(wanted.path);
  if (again && file.ok()) file = expect_same(files_, *file.value(), identity_in(block_of(descriptor)));
  if (!again && file.ok()) put_identity(block_of(descriptor), file.value()->identity);
  // A server that replaces this one need not repeat the opening. Note that before the end is reported: from then on
  // the client uses the block for other data.
  if (!file.ok() && !again) to_client_.note_end(descriptor.bytes.block, descriptor.sequence);
  if (file.ok() || again) {
    Open& of = open_[descriptor.variable];
    of.block = descriptor.bytes.block;
    of.sequence = descriptor.sequence;
    of.failure = file.status();
    of.path = path;
    of.record = wanted.record;
    if (file.ok()) of.file = file.value();
    of.answer = block_of(descriptor);
    of.seals = wanted.is_sealed();
    if (of.seals || wanted.is_published()) of.opening = block_of(descriptor);
    of.writes = (wanted.mode & kFileWrite) != 0;
    of.immediate = (wanted.mode & kFileImmediate) != 0;
    if (of.file != nullptr) meter_.opened(of.record, of.file->data);
  }
  if (!again) end(descriptor, not_opened(file.status()), path, {});
}

void RawFiles::open_shared(const FileToOpen& wanted, bool again, SharedFiles::Then then) {
  const Result<SharedFiles::Place> place = place_of(storage_, wanted.path);
  if (!place.ok()) return then(place.status());
  OpenMode for_one = (wanted.mode & kFileTruncate) != 0 ? OpenMode::create : OpenMode::update;
  if (again) for_one = OpenMode::edit;
  if (wanted.is_sealed()) return files_.open_to_seal(place.value(), for_one, std::move(then));
  // A `.partial` that no longer exists has been renamed to its name.
  if (wanted.is_published()) return files_.open_to_publish(place.value(), for_one, std::move(then));
  SharedFiles::Mode mode = SharedFiles::Mode::read;
  if ((wanted.mode & kFileTruncate) != 0)
    mode = SharedFiles::Mode::truncate;
  else if ((wanted.mode & kFileWrite) != 0)
    mode = SharedFiles::Mode::write;
  if (again && mode != SharedFiles::Mode::read) mode = SharedFiles::Mode::edit;
  files_.open(place.value(), mode, std::move(then));
}

void RawFiles::begin_list(const Descriptor& descriptor, Open& of, bool again) {
  Result<std::vector<Piece>> pieces = pieces_of(descriptor);
  if (!pieces.ok()) return end(descriptor, pieces.status(), of.path, {});
  const bool write = writes_file(descriptor.verb);
  const uint64_t token = new_work(descriptor, !write && !again && is_written(of.file));
  ++of.under_way;
  if (write) {
    ++of.writing;
    ++written_[of.file];
  }
  const bool waited_for = write && descriptor.ticket != kNoTicket;
  const bool immediate = !write || of.immediate || (waited_for && by_count_);
  submit(token, of.file->data, write ? Operation::write : Operation::read, std::move(pieces).value(), immediate);
}

bool RawFiles::progress() {
  bool moved = false;
  for (auto at = waiting_.begin(); at != waiting_.end();) {
    const uint32_t number = *at++;
    Open& of = open_.at(number);
    while (!of.waiting.empty() && of.waiting.front().verb != Verb::file_close) {
      if (engine_.room() == 0 || of.asking || is_written(of.file)) break;
      const Descriptor next = of.waiting.front();
      of.waiting.pop_front();
      begin_next(next, of);
      moved = true;
    }
    const bool closes = of.closing && of.under_way == 0 && of.waiting.size() == 1;
    constexpr uint32_t kPublication = 1;  // requests in succession
    if (closes && engine_.room() < kPublication) break;
    if (of.waiting.empty() || closes) waiting_.erase(number);
    if (!closes) continue;
    const Descriptor close = of.waiting.front();
    of.waiting.pop_front();
    begin_close(close, of);  // it may end at once, and the file with it
    moved = true;
  }
  return files_.progress() || moved;
}

void RawFiles::begin_next(const Descriptor& next, Open& of) {
  switch (next.verb) {
    case Verb::file_sync:
      if (of.file->sync == 0) return end(next, {}, {}, {});  // no client can have written it
      ++of.under_way;
      return submit(new_work(next, false), of.file->sync, Operation::sync, {}, false);
    case Verb::file_truncate:
      ++of.under_way;
      return submit(new_work(next, false), of.file->data, Operation::truncate, {}, false);
    case Verb::file_size:
    case Verb::file_allocate: return ask(next, of);
    default: return begin_list(next, of, true);
  }
}

// Has the storage look for the file's size, or reserve space. Verbs that wait go on waiting for that.
void RawFiles::ask(const Descriptor& next, Open& of) {
  const bool of_size = next.verb == Verb::file_size;
  of.asking = true;
  ++of.under_way;
  const uint64_t token = new_work(next, false);
  FileOperation operation{.kind = of_size ? FileOperation::Kind::size : FileOperation::Kind::allocate};
  if (!of_size) operation.offset = next.range.offset;
  if (!of_size) operation.size = next.range.length;
  engine_.carry_out(of.file->data, std::move(operation), 0,
                    [this, next, of_size, token](const FileOperationEnd& found) {
                      Open& asked = open_.at(next.variable);
                      asked.asking = false;
                      --asked.under_way;
                      free_works_.push_back(token);
                      if (of_size && found.status.ok()) put_size(asked.answer, found.size);
                      end(next, found.status, asked.path, {});
                    });
}

void RawFiles::remove(const Descriptor& descriptor, bool again) {
  const Result<FileToOpen> wanted = read_file_opening(block_of(descriptor));
  if (!wanted.ok()) return end(descriptor, wanted.status(), {}, {});
  const Result<SharedFiles::Place> place = place_of(storage_, wanted.value().path);
  if (!place.ok()) return end(descriptor, place.status(), storage_.file_path(wanted.value().path), {});
  ++names_;
  files_.remove(place.value(), [this, descriptor, again, path = place.value().path](const Status& removed) {
    --names_;
    Status status = not_opened(removed);
    if (again && status.code() == TAILRACE_NOT_FOUND) status = {};
    end(descriptor, status, path, {});
  });
}

// All other verbs of the file have ended.
void RawFiles::begin_close(const Descriptor& descriptor, Open& of) {
  if (of.file != nullptr) meter_.closed(of.record, of.file->data);
  const bool publishes = of.seals ? has_seal(of.opening) : !of.opening.empty();
  Status left = publishes ? unpublished(of) : Status();
  if (of.file == nullptr) return end_close(descriptor, left);
  if (!publishes || !left.ok()) return release(of, [this, descriptor, left] { end_close(descriptor, left); });
  ++of.under_way;
  const uint64_t token = new_work(descriptor, false);
  if (storage_.durability != Durability::durable) return publish(token, of);
  submit(token, of.file->data, Operation::sync, {}, false);
}

// Returns why a file is neither published nor sealed. For one that is to be published, the engine adds the failures
// that it knows of.
Status RawFiles::unpublished(const Open& of) const {
  const auto left = [&of](const std::string& why, Fault fault = {}) {
    fault.code = TAILRACE_NOT_PUBLISHED;
    fault.message = of.seals ? fmt::format("'{}' is incomplete since {}", of.path, why)
                             : fmt::format("'{}' is not published since {}", name_of_partial(of.path), why);
    return Status(std::move(fault));
  };
  const bool known_to_engine = of.file != nullptr && engine_.has_failed(of.file->data);
  if (known_to_engine && of.seals) {
    const Fault& first = engine_.failure(of.file->data).fault();
    return left("something in it failed: " + first.message, first);
  }
  if (has_failed(of.opening) && !known_to_engine) return left("something in it failed before, or it was given up");
  if (to_client_.is_lost()) return left("its client has cut its shared memory short");
  if (of.file != nullptr || (!of.seals && of.failure.fault().system_errno == ENOENT)) return {};
  return left("it could not be opened again: " + of.failure.fault().message);
}

// The data must be on the device before the name or the seal.
void RawFiles::publish(uint64_t token, Open& of) {
  if (!of.seals) return submit(token, of.file->data, Operation::publish, {}, false);
  Status whole = unpublished(of);  // a sync of it may have failed
  Result<Piece> seal = whole.ok() ? read_seal(of.opening) : whole;
  if (seal.ok()) return submit(token, of.file->data, Operation::write, {seal.value()}, true);
  release(of, [this, token, status = seal.status()] { end_publishing(token, status); });
}

// A close ends after the files are closed.
void RawFiles::release(Open& of, std::function<void()> then) {
  ++releases_;
  files_.release(*std::exchange(of.file, nullptr), [this, then = std::move(then)] {
    --releases_;
    then();
  });
}

// The steps are: a sync of the data (only the engine needs its result), the publication, or the seal and a sync of
// it, and a sync of the directory.
void RawFiles::went_on_publishing(const Request& request, const Status& how) {
  const Work work = works_[request.token];
  Open& of = open_.at(work.descriptor.variable);
  const bool durable = storage_.durability == Durability::durable;
  if (work.directory != 0) {
    close_directory(engine_, work.directory);
    return end_publishing(request.token, how);
  }
  if (request.operation == Operation::sync && !work.sealed) return publish(request.token, of);
  if (request.operation == Operation::write && how.ok() && durable) {
    works_[request.token].sealed = true;
    return submit(request.token, of.file->data, Operation::sync, {}, false);
  }
  const auto end = [this, &of, token = request.token, how, durable] {
    if (how.ok() && durable) return sync_directory(token, of);
    end_publishing(token, how);
  };
  if (of.seals) return release(of, end);
  files_.published(*std::exchange(of.file, nullptr));
  end();
}

void RawFiles::end_publishing(uint64_t token, const Status& status) {
  free_works_.push_back(token);
  end_close(works_[token].descriptor, status);
}

void RawFiles::end_close(const Descriptor& descriptor, const Status& status) {
  const auto node = open_.extract(descriptor.variable);
  end(descriptor, status, node.mapped().path, {});
}

// The file may be new: its name must be on the device, too.
void RawFiles::sync_directory(uint64_t token, const Open& of) {
  const FileId directory = engine_.open(directory_of(of.path), OpenMode::directory, 0, {});
  works_[token].directory = directory;
  submit(token, directory, Operation::sync, {}, false);
}

uint64_t RawFiles::new_work(const Descriptor& descriptor, bool may_repeat) {
  if (free_works_.empty()) {
    free_works_.push_back(works_.size());
    works_.emplace_back();
  }
  const uint64_t token = free_works_.back();
  free_works_.pop_back();
  works_[token] = {descriptor, 0, may_repeat};
  return token;
}

void RawFiles::submit(uint64_t token, FileId file, Operation operation, std::vector<Piece> pieces, bool immediate) {
  Request request;
  request.operation = operation;
  request.file = file;
  request.pieces = std::move(pieces);
  request.client = client_;
  request.sequence = works_[token].descriptor.sequence;
  request.sink = this;
  request.token = token;
  request.immediate = immediate;
  if (operation == Operation::truncate) request.size = works_[token].descriptor.range.length;
  engine_.submit(std::move(request));
}

void RawFiles::ended(const Request& request, const Status& how) {
  if (works_[request.token].descriptor.verb == Verb::file_close) return went_on_publishing(request, how);
  Status status = how;
  const Work work = works_[request.token];
  const Descriptor& descriptor = work.descriptor;
  Open& of = open_.at(descriptor.variable);
  if (work.directory != 0) {
    close_directory(engine_, work.directory);
    of.file->named = of.file->named || status.ok();
  } else if (descriptor.verb == Verb::file_sync && status.ok() && !of.file->named) {
    return sync_directory(request.token, of);
  }
  free_works_.push_back(request.token);
  --of.under_way;
  if (writes_file(descriptor.verb)) {
    --of.writing;
    if (--written_.at(of.file) == 0) written_.erase(of.file);
    host_.file_write_went(descriptor, request, status);
  }
  // A server that replaces this one must know.
  const bool loses_bytes = request.operation == Operation::write || request.operation == Operation::sync;
  if (!status.ok() && loses_bytes && !of.opening.empty()) set_failed(of.opening);
  // Look from time to time at a file that is written without a pause.
  constexpr uint32_t kEvery = 64;
  if (of.writing % kEvery == 0) meter_.look(of.record, of.file->data);
  // The file may still have been too short: the read does not wait for a write that makes the file longer without
  // touching the bytes that it reads.
  if (!status.ok() && work.may_repeat) {
    of.waiting.push_front(descriptor);
    waiting_.insert(descriptor.variable);
    return;
  }
  end(descriptor, status, of.path, request.moves_bytes() && !status.ok() ? text_of(request.pieces) : "");
}

// `what`: the part of the file that the verb concerns.
void RawFiles::end(const Descriptor& descriptor, const Status& status, const std::string& path,
                   const std::string& what) {
  if (status.ok()) return host_.file_verb_ended(descriptor, {});
  Fault fault = status.fault();
  // A sync after one that has failed: it is unknown what is on the device.
  if (fault.code == TAILRACE_NOT_PUBLISHED && descriptor.verb != Verb::file_close) fault.code = TAILRACE_IO_ERROR;
  fault.operation = name_of(descriptor.verb);
  if (!path.empty()) fault.file = path;
  fault.message = fmt::format("{}{}{}: {}", fault.operation, what.empty() ? "" : " of ", what, fault.message);
  host_.file_verb_ended(descriptor, Status(std::move(fault)));
}

void RawFiles::leave() {
  TAILRACE_REQUIRE(idle());
  for (auto& [number, of] : open_) {
    if (of.file == nullptr) continue;
    meter_.closed(of.record, of.file->data);
    files_.release(*of.file, [] {});
  }
  waiting_.clear();
  open_.clear();
}

}  // namespace tailrace::impl
