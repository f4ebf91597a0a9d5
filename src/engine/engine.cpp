#include "engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

namespace tailrace::impl {
namespace {

RequestQueue::Rules rules_of(const EngineOptions& options) {
  using ReadAfter = EngineOptions::ReadAfter;
  return {options.morph, options.read_after != ReadAfter::written, options.read_after == ReadAfter::any,
          options.fine_from};
}

// Limits a joined access to what one transfer of the storage can have.
MergeLimits limits_of(MergeLimits limits, const Capabilities& storage) {
  limits.max_segments = std::min(limits.max_segments, storage.max_segments);
  if (limits.alignment == 0) limits.alignment = storage.direct_alignment;
  if (!storage.scatters) limits.scatter = 0;
  return limits;
}

constexpr uint64_t kReserveFrom = uint64_t{64} << 10;  // bytes; a smaller extent is not worth a call

bool carries_several(const Access& access) {
  const Request* const first = access.parts.front().request;
  return std::any_of(access.parts.begin(), access.parts.end(),
                     [first](const Access::Part& part) { return part.request != nullptr && part.request != first; });
}

Executor::Options execution_of(const EngineOptions& options) {
  Executor::Options execute = options.execute;
  execute.largest_hole = options.merge.sieve;
  return execute;
}

}  // namespace

Engine::Engine(Storage& storage, Scheduler& scheduler, const Clock& clock, const EngineOptions& options)
    : storage_(storage),
      scheduler_(scheduler),
      clock_(clock),
      options_(options),
      limits_(limits_of(options.merge, storage.capabilities())),
      queue_(options.max_pending, rules_of(options)),
      gather_(options.gather),
      executor_(storage, clock, execution_of(options)),
      operations_(storage) {}

void Engine::fence_by(Executor::MayBegin may_begin) {
  operations_.fence_by(may_begin);
  executor_.fence_by(std::move(may_begin));
}

Engine::~Engine() {
  TAILRACE_REQUIRE(idle());
  for (auto& [id, file] : files_) {
    if (file.state == File::State::open) storage_.files().close(file.handle);
  }
}

FileId Engine::open(const std::string& path, OpenMode mode, uint32_t device, const std::string& final_path) {
  const FileId id = add_file(path, final_path);
  operations_.submit({.kind = FileOperation::Kind::open, .path = path, .mode = mode, .device = device}, 0,
                     [this, id](FileOperationEnd& end) { end_opening(id, end); });
  return id;
}

FileId Engine::add(const std::string& path, Opened opened) {
  const FileId id = add_file(path, {});
  note_open(files_.at(id), std::move(opened));
  return id;
}

void Engine::carry_out(FileId id, FileOperation operation, uint32_t client, Operations::Then then) {
  operation.file = file(id).handle;
  operations_.submit(std::move(operation), client, std::move(then));
}

FileId Engine::add_file(const std::string& path, const std::string& final_path) {
  const FileId id = next_file_++;
  File& file = files_[id];
  file.path = path;
  file.final_path = final_path;
  file.sizes = final_path.empty() ? std::make_shared<Sizes>() : sizes_of_published_;
  if (!final_path.empty()) gather_.opened_like_others(id);
  return id;
}

void Engine::note_open(File& file, Opened opened) {
  file.state = File::State::open;
  file.handle = opened.file;
  file.stripes = std::move(opened.stripes);
  file.identity = opened.identity;
}

void Engine::publish_as(FileId id, const std::string& final_path) { file(id).final_path = final_path; }

const std::string& Engine::path(FileId id) const {
  const auto found = files_.find(id);
  TAILRACE_REQUIRE(found != files_.end());
  return found->second.path;
}

FileIdentity Engine::identity(FileId id) const {
  const auto found = files_.find(id);
  TAILRACE_REQUIRE(found != files_.end());
  return found->second.identity;
}

const StripeMap& Engine::stripes(FileId id) const {
  const auto found = files_.find(id);
  TAILRACE_REQUIRE(found != files_.end());
  return found->second.stripes;
}

void Engine::submit(Request request) {
  TAILRACE_REQUIRE(request.sink != nullptr || request.operation == Operation::close);
  TAILRACE_REQUIRE(files_.contains(request.file));
  TAILRACE_REQUIRE(request.moves_bytes() == !request.pieces.empty());
  const FileId file = request.file;
  if (request.operation == Operation::write) note_written_to(request);
  if (request.operation == Operation::truncate) note_cut(request);
  bool waited_for = request.is_fence() || request.immediate;
  const Request* const ready = queue_.admit(std::move(request));
  if (under_way_.size() < queue_.slots()) under_way_.resize(queue_.slots());
  // The queue knows which reads wait for no write.
  if (ready != nullptr) waited_for = ready->is_fence() || ready->immediate;
  if (waited_for) gather_.impatient(file);
  if (ready != nullptr) {
    (queue_.served(ready->slot) ? served_ : ready_).push_back(ready);
  }
  counts_.pending_peak = std::max<uint64_t>(counts_.pending_peak, options_.max_pending - queue_.room());
}

void Engine::progress(Urgency urgency) {
  if (urgency >= Urgency::waiting) {
    gather_.hurry();
    scheduler_.hurry();
  }
  executor_.pace().hurry(urgency != Urgency::none);
  do {
    if (urgency != Urgency::crowded) write_behind(urgency == Urgency::none && queue_.empty());
  } while (step());
  count_busy();
}

// Runs the stages once, last first. Returns true if another round may find something to do.
bool Engine::step() {
  executor_.progress(ended_);
  for (Executor::Ended& end : ended_) {
    if (end.sync) {
      note_begun(end.sync->slot, end.begun);
      finish(end.sync, end.status);
    } else {
      finish_access(end);
    }
  }
  const bool something_ended = !ended_.empty();
  ended_.clear();
  const bool an_operation_ended = operations_.progress();
  const bool something_served = serve();
  const bool something_taken = executor_.has_room() && take_ready();
  return something_ended || an_operation_ended || something_served || something_taken;
}

// Begins to write to the device what is in the page cache. Only the close of the file waits for that. `computing`: no
// client waits, and storage has kept up with the program; else the device would slow what is copied into the cache.
void Engine::write_behind(bool computing) {
  while (const std::optional<WriteBehind::Next> next = executor_.behind().next(clock_.now(), computing)) {
    operations_.submit({.kind = FileOperation::Kind::behind,
                        .file = next->file,
                        .offset = next->extent.offset,
                        .size = next->extent.length},
                       0, [this, file = next->file](FileOperationEnd&) { executor_.behind().ended(file); });
  }
}

// Ends the reads that got all their bytes from pending writes. Returns true if there were any.
bool Engine::serve() {
  if (served_.empty()) return false;
  const std::vector<const Request*> served = std::exchange(served_, {});
  for (const Request* request : served) {
    count_before(*request, {});
    finish(request, {});
  }
  return true;
}

// Passes ready requests through gathering and the scheduler, merges those that move bytes, and starts them all.
// Returns true if there were any.
bool Engine::take_ready() {
  const Nanoseconds now = clock_.now();
  bool taken = gather_ready(now);
  batch_.clear();
  while (const Request* request = scheduler_.next(now)) {
    taken = true;
    if (request->is_fence()) {
      start(*request);
    } else {
      batch_.push_back(request);
    }
  }
  carry_out(batch_);
  return taken;
}

// Passes ready requests on to the scheduler, small writes when they have gathered. Returns true if any was ready.
bool Engine::gather_ready(Nanoseconds now) {
  const std::vector<const Request*> ready = std::exchange(ready_, {});
  for (const Request* request : ready) begin_ready(*request, now);
  gathered_.clear();
  gather_.take(now, gathered_);
  for (const Request* request : gathered_) scheduler_.push(request);
  return !ready.empty();
}

void Engine::begin_ready(const Request& request, Nanoseconds now) {
  File& of = file(request.file);
  const Status& inherited = queue_.inherited(request.slot);
  if (!inherited.ok()) return finish(&request, Status(inherited));
  if (of.state == File::State::opening) return of.early.push_back(&request);
  if (of.state == File::State::unopened) return end_unopened(request, of);
  if (request.reserve && reserve(request, of)) return;
  const uint64_t begin = request.pieces.empty() ? 0 : request.pieces.front().extent.offset;
  queue_.set_server(request.slot, of.stripes.server_of(begin));
  if (request.is_fence()) return scheduler_.push(&request);
  const bool small = gather_.put(&request, now);
  under_way_[request.slot].small = small;
  if (!small) scheduler_.push(&request);
}

// A file that was not opened needs no close, and is not there to be removed. Only a close that is a fence tells that.
void Engine::end_unopened(const Request& request, const File& of) {
  const bool closes = request.operation == Operation::close && !request.fence;
  const bool ends = closes || request.operation == Operation::remove;
  finish(&request, ends ? Status() : of.failure);
}

// Begins to reserve space for the large pieces of a write. Returns true if the write must wait for that.
bool Engine::reserve(const Request& request, const File& of) {
  Progress& progress = under_way_[request.slot];
  if (std::exchange(progress.reserved, true)) return false;
  progress.operation = &request;
  for (const Piece& piece : request.pieces) {
    if (piece.extent.length < kReserveFrom) continue;
    ++progress.reservations;
    operations_.submit({.kind = FileOperation::Kind::reserve,
                        .file = of.handle,
                        .offset = piece.extent.offset,
                        .size = piece.extent.length},
                       request.client,
                       [this, slot = request.slot](FileOperationEnd& end) { end_operation(slot, end.status); });
  }
  return progress.reservations > 0;
}

// While the storage takes no more transfers, the end of one of them comes first. A write that the rate holds back
// also holds all requests behind it.
std::optional<Nanoseconds> Engine::due() const {
  std::optional<Nanoseconds> least = storage_.due();
  const auto earlier = [&least](std::optional<Nanoseconds> other) {
    if (other) least = least ? std::min(*least, *other) : *other;
  };
  if (executor_.held()) {
    earlier(executor_.pace().due());
  } else if (executor_.has_room()) {
    earlier(gather_.due());
    earlier(scheduler_.due());
  }
  return least;
}

void Engine::carry_out(std::span<const Request* const> batch) {
  std::vector<Share> shares;
  shares.reserve(batch.size());
  for (const Request* request : batch) {
    const std::span<const Piece> pieces = queue_.begin(request->slot);
    if (!pieces.empty()) shares.push_back({request, pieces});
    count_before(*request, pieces);
    under_way_[request->slot].parts_left = 0;
    under_way_[request->slot].outcome = {};
  }
  std::vector<Access> accesses = merge(shares, limits_);
  for (const Access& access : accesses) {
    Sizes& sizes = *file(access.file).sizes;
    const bool reads = access.operation == Operation::read;
    sizes.after.add(access.extent.length - (reads ? 0 : access.holes));
    sizes.sieved += reads ? access.holes : 0;
    for (const Access::Part& part : access.parts) {
      if (part.request != nullptr) ++under_way_[part.request->slot].parts_left;
    }
    counts_.sieved += reads ? access.holes : 0;
  }
  counts_.accesses += accesses.size();
  for (Access& access : accesses) start_access(std::move(access));
  // Later writes may have taken over every byte of a request.
  for (const Request* request : batch) {
    if (under_way_[request->slot].parts_left == 0) finish(request, {});
  }
}

// Counts the bytes that need no transfer: those of a write were overwritten, those of a read came from memory.
void Engine::count_before(const Request& request, std::span<const Piece> carried_out) {
  Sizes& sizes = *file(request.file).sizes;
  uint64_t spared = 0;
  for (const Piece& piece : request.pieces) {
    sizes.before.add(piece.extent.length);
    spared += piece.extent.length;
  }
  for (const Piece& piece : carried_out) spared -= piece.extent.length;
  (request.operation == Operation::write ? sizes.overwritten : sizes.stolen) += spared;
}

// Starts an access. Small ones go through the page cache, so that the back end need not open the file a second time
// for them. Before the first large one, it is asked to.
void Engine::start_access(Access access) {
  const Request& first = *access.parts.front().request;
  if (under_way_[first.slot].small) gather_.began(access.file, carries_several(access));
  const FileId id = access.file;
  File& of = file(id);
  const bool scattered = access.operation == Operation::write && access.holes > 0;
  const bool large = !scattered && access.extent.length >= options_.execute.direct_from;
  const bool may_be_direct = large && storage_.capabilities().direct_alignment > 0;
  ExecutionTarget to{of.handle, of.path, may_be_direct && of.direct.value_or(false)};
  if (access.operation == Operation::read) to.written_to = written_to(access);
  if (!may_be_direct || of.direct) return executor_.start(std::move(access), std::move(to));
  of.undecided.emplace_back(std::move(access), std::move(to));
  if (of.undecided.size() > 1) return;
  operations_.submit({.kind = FileOperation::Kind::direct, .file = of.handle}, 0,
                     [this, id](const FileOperationEnd& end) { end_direct(id, end.direct); });
}

void Engine::end_direct(FileId id, std::optional<bool> direct) {
  File& of = file(id);
  of.direct = direct;
  for (auto& [access, to] : std::exchange(of.undecided, {})) {
    to.direct = direct.value_or(false);
    executor_.start(std::move(access), std::move(to));
  }
}

namespace {

bool takes_effect_all_the_same(Operation operation) {
  return operation == Operation::truncate || operation == Operation::close || operation == Operation::remove;
}

}  // namespace

// Starts a fence. All earlier requests of its file have ended.
void Engine::start(const Request& request) {
  File& of = file(request.file);
  if (!of.failure.ok() && !takes_effect_all_the_same(request.operation)) {
    Fault fault = of.failure.fault();
    fault.code = TAILRACE_NOT_PUBLISHED;
    fault.message = fmt::format("'{}' is not published because a part of it failed: {}", of.path, fault.message);
    fault.operation = name_of(request.operation);
    Status status{std::move(fault)};
    if (request.operation != Operation::publish) return finish(&request, status);
    under_way_[request.slot].outcome = std::move(status);
    return begin_last({.kind = FileOperation::Kind::close, .file = of.handle}, request);
  }
  switch (request.operation) {
    case Operation::read:
    case Operation::write: {
      under_way_[request.slot].small = false;
      under_way_[request.slot].outcome = {};
      const std::span<const Piece> pieces = queue_.begin(request.slot);
      under_way_[request.slot].parts_left = static_cast<uint32_t>(pieces.size());
      for (const Piece& piece : pieces) start_access(access_of(request, piece));
      return;
    }
    case Operation::truncate:
      return begin({.kind = FileOperation::Kind::truncate, .file = of.handle, .size = request.size}, request,
                   request.client);
    case Operation::rename:
      return begin(
          {.kind = FileOperation::Kind::rename, .file = of.handle, .path = request.path, .replace = request.replace},
          request, request.client);
    case Operation::sync: executor_.start_sync(&request, {of.handle, of.path}); return;
    case Operation::publish:
      return begin_last({.kind = FileOperation::Kind::publish,
                         .file = of.handle,
                         .path = of.final_path,
                         .replace = request.replace},
                        request);
    case Operation::close: return begin_last({.kind = FileOperation::Kind::close, .file = of.handle}, request);
    case Operation::remove:
      return begin_last({.kind = FileOperation::Kind::remove, .file = of.handle, .path = of.path}, request);
  }
}

void Engine::begin(FileOperation operation, const Request& request, uint32_t client) {
  under_way_[request.slot].operation = &request;
  note_begun(request.slot, clock_.now());
  operations_.submit(std::move(operation), client,
                     [this, slot = request.slot](FileOperationEnd& end) { end_operation(slot, end.status); });
}

// Begins an operation that ends the use of the file's handle.
void Engine::begin_last(FileOperation operation, const Request& request) {
  const FileHandle file = operation.file;
  executor_.behind().forget(file, [this, operation = std::move(operation), &request] { begin(operation, request); });
}

void Engine::end_opening(FileId id, FileOperationEnd& end) {
  File& of = file(id);
  if (end.status.ok()) {
    note_open(of, std::move(end.opened));
  } else {
    of.state = File::State::unopened;
    of.failure = end.status;
  }
  ready_.insert(ready_.end(), of.early.begin(), of.early.end());
  of.early.clear();
}

// The write for which space was reserved is ready.
void Engine::end_operation(uint32_t slot, const Status& status) {
  Progress& progress = under_way_[slot];
  const bool reserves = progress.reservations > 0;
  if (progress.outcome.ok()) progress.outcome = status;
  if (reserves && --progress.reservations > 0) return;
  const Request* const request = std::exchange(progress.operation, nullptr);
  const Status outcome = std::exchange(progress.outcome, Status{});
  if (reserves && outcome.ok()) return ready_.push_back(request);
  if (request->operation == Operation::rename && outcome.ok()) file(request->file).path = request->path;
  finish(request, outcome);
}

// Retries a failed joined access piece by piece, so that the failure ends exactly the requests that it concerns, and
// names their pieces.
void Engine::finish_access(Executor::Ended& end) {
  const std::vector<Access::Part>& parts = end.access.parts;
  if (under_way_[parts.front().request->slot].small) gather_.ended(end.access.file);
  if (!end.status.ok() && parts.size() > 1) {
    for (Access& one : taken_apart(end.access)) start_access(std::move(one));
    return;
  }
  const bool merged = carries_several(end.access);
  for (const Access::Part& part : parts) {
    if (part.request == nullptr) continue;
    const uint32_t slot = part.request->slot;
    Progress& progress = under_way_[slot];
    TAILRACE_ASSERT(progress.parts_left > 0);
    note_begun(slot, end.begun);
    if (merged) progress.course.merged = true;
    if (end.cached) progress.course.cached = true;
    if (progress.outcome.ok()) progress.outcome = end_of_piece(*part.request, end.access.extent, end.status);
    if (--progress.parts_left == 0) finish(part.request, std::exchange(progress.outcome, Status{}));
  }
}

// Notes the beginning of a request: that of its first piece.
void Engine::note_begun(uint32_t slot, Nanoseconds begun) {
  Request::Course& course = under_way_[slot].course;
  course.begun = std::min(course.begun, begun);
}

// Finishes a request whose pieces have all been carried out. It ends now, or together with others.
void Engine::finish(const Request* request, const Status& status) {
  queue_.finish(request->slot, status, over_, ready_);
  for (RequestQueue::Ended& end : over_) note_end(end);
  // A sink may submit more, but that ends nothing.
  for (RequestQueue::Ended& end : over_) {
    if (end.request.sink != nullptr) end.request.sink->ended(end.request, end.status);
  }
  over_.clear();
}

void Engine::note_end(RequestQueue::Ended& end) {
  Request& request = end.request;
  const FileId id = request.file;
  const bool is_changed = request.operation == Operation::truncate || request.operation == Operation::rename;
  const bool gone = !request.moves_bytes() && !is_changed && request.operation != Operation::sync;
  const bool loses_bytes = request.operation != Operation::read && !is_changed;
  const bool fails = !end.status.ok() && !is_withdrawn(end.status);
  if (fails && loses_bytes && file(id).failure.ok()) file(id).failure = end.status;
  under_way_[request.slot].reserved = false;
  request.course = std::exchange(under_way_[request.slot].course, {});
  request.course.ended = clock_.now();
  request.course.begun = std::min(request.course.begun, request.course.ended);
  counts_.merged += request.course.merged ? 1 : 0;
  if (request.course.merged) ++file(id).sizes->merged;
  if (request.is_fence() || request.immediate) gather_.patient(id);
  scheduler_.ended(request);
  if (!gone) return;
  files_.erase(id);
  gather_.forget(id);
}

void Engine::ended_iteration(uint32_t client, Nanoseconds waited) {
  if (!options_.govern) return;
  const Nanoseconds now = clock_.now();
  const Nanoseconds busy = counts_.busy + (was_busy_ ? now - busy_since_ : Nanoseconds::zero());
  const auto rest = governor_.ended_iteration({client, now, waited, busy, executor_.counts().bytes_written});
  executor_.pace().set_rate(governor_.rate());
  executor_.pace().rest_until(rest.value_or(Nanoseconds::zero()));
}

Engine::Counts Engine::counts() const {
  Counts counts = counts_;
  counts.transfers = executor_.counts();
  counts.overwritten = queue_.counts().overwritten;
  counts.stolen = queue_.counts().stolen;
  return counts;
}

const Engine::Sizes& Engine::sizes(FileId id) const {
  const auto found = files_.find(id);
  TAILRACE_REQUIRE(found != files_.end());
  return *found->second.sizes;
}

Engine::File& Engine::file(FileId id) {
  const auto found = files_.find(id);
  TAILRACE_ASSERT(found != files_.end());
  return found->second;
}

void Engine::note_written_to(const Request& request) {
  uint64_t& end = file(request.file).written_to[request.client];
  for (const Piece& piece : request.pieces) end = std::max(end, piece.extent.end());
}

// Writes before the truncation no longer make the file longer; later ones will.
void Engine::note_cut(const Request& request) {
  for (auto& [client, end] : file(request.file).written_to) end = std::min(end, request.size);
}

// Returns the least end of writes, over all clients that the access reads for.
uint64_t Engine::written_to(const Access& access) {
  const std::unordered_map<uint32_t, uint64_t>& ends = file(access.file).written_to;
  uint64_t least = std::numeric_limits<uint64_t>::max();
  for (const Access::Part& part : access.parts) {
    if (part.request == nullptr) continue;
    const auto found = ends.find(part.request->client);
    least = std::min(least, found != ends.end() ? found->second : 0);
  }
  return least;
}

void Engine::count_busy() {
  const bool busy = !executor_.idle();
  if (busy == was_busy_) return;
  const Nanoseconds now = clock_.now();
  if (busy) {
    busy_since_ = now;
  } else {
    counts_.busy += now - busy_since_;
  }
  was_busy_ = busy;
}

}  // namespace tailrace::impl
