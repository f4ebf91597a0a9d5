#include "engine/engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tailrace::impl {

Engine::Engine(Storage& storage, Scheduler& scheduler, const Clock& clock, const EngineOptions& options)
    : storage_(storage),
      scheduler_(scheduler),
      clock_(clock),
      options_(options),
      queue_(options.max_pending),
      executor_(storage, clock, options.execute),
      pieces_left_(options.max_pending, 0),
      outcome_(options.max_pending),
      course_(options.max_pending) {}

Engine::~Engine() {
  TAILRACE_REQUIRE(idle());
  for (auto& [id, file] : files_) storage_.close(file.handle);
}

Result<FileId> Engine::open(const std::string& path, OpenMode mode, uint32_t device, const std::string& final_path) {
  Result<FileHandle> handle = storage_.open(path, mode, device);
  if (!handle.ok()) return handle.status();
  const FileId id = next_file_++;
  files_[id] = {handle.value(), path, final_path, storage_.direct(handle.value()), {}};
  return id;
}

Status Engine::allocate(FileId id, Extent extent) {
  return storage_.allocate(file(id).handle, extent.offset, extent.length);
}

const std::string& Engine::path(FileId id) const {
  const auto found = files_.find(id);
  TAILRACE_REQUIRE(found != files_.end());
  return found->second.path;
}

void Engine::submit(Request request) {
  TAILRACE_REQUIRE(request.sink != nullptr || request.operation == Operation::close);
  TAILRACE_REQUIRE(files_.contains(request.file));
  TAILRACE_REQUIRE(request.moves_bytes() == !request.pieces.empty());
  if (const Request* ready = queue_.admit(std::move(request))) scheduler_.push(ready);
  counts_.pending_peak = std::max<uint64_t>(counts_.pending_peak, options_.max_pending - queue_.room());
}

void Engine::progress() {
  while (step()) {
  }
  count_busy();
}

// One round through the stages, last first. Returns whether another round may find something to do.
bool Engine::step() {
  executor_.progress(ended_);
  for (Executor::Ended& end : ended_) {
    if (end.sync) {
      note_begun(end.sync->slot, end.begun);
      finish(end.sync, std::move(end.status));
    } else {
      finish_access(end);
    }
  }
  const bool something_ended = !ended_.empty();
  ended_.clear();
  if (!executor_.hungry()) return something_ended;
  take_ready();
  return something_ended || !batch_.empty();
}

// Takes a batch from the scheduler, merges what moves bytes, and starts it all.
void Engine::take_ready() {
  batch_.clear();
  std::vector<const Request*> moving;
  while (batch_.size() < options_.largest_batch) {
    const Request* request = scheduler_.pop();
    if (request == nullptr) break;
    batch_.push_back(request);
    const Status& inherited = queue_.inherited(request->slot);
    if (!inherited.ok()) {
      finish(request, inherited);
    } else if (request->moves_bytes() && !request->fence) {
      moving.push_back(request);
    } else {
      start(*request);
    }
  }
  for (const Request* request : moving) {
    pieces_left_[request->slot] = static_cast<uint32_t>(request->pieces.size());
    outcome_[request->slot] = {};
  }
  for (Access& access : join_adjacent(moving, options_.merge)) {
    const FileId id = access.file;
    executor_.start(std::move(access), target(id));
  }
}

// Starts a fence: all earlier requests of its file have ended.
void Engine::start(const Request& request) {
  File& of = file(request.file);
  const bool closes = request.operation == Operation::close || request.operation == Operation::remove;
  if (!of.failure.ok() && !closes) {
    Fault fault = of.failure.fault();
    fault.code = TAILRACE_NOT_PUBLISHED;
    fault.message = fmt::format("'{}' is not published since something in it failed: {}", of.path, fault.message);
    fault.operation = name_of(request.operation);
    Status status{std::move(fault)};
    if (request.operation == Operation::publish) storage_.close(of.handle);
    finish(&request, std::move(status));
    return;
  }
  switch (request.operation) {
    case Operation::read:
    case Operation::write: {
      pieces_left_[request.slot] = static_cast<uint32_t>(request.pieces.size());
      outcome_[request.slot] = {};
      for (const Piece& piece : request.pieces) executor_.start(access_of({&request, piece}), target(request.file));
      return;
    }
    case Operation::sync: executor_.start_sync(&request, target(request.file)); return;
    case Operation::publish:
    case Operation::close:
    case Operation::remove: finish(&request, close_by(request.operation, of)); return;
  }
}

Status Engine::close_by(Operation operation, File& of) {
  storage_.close(of.handle);
  if (operation == Operation::publish) return storage_.rename(of.path, of.final_path);
  if (operation == Operation::remove) return storage_.remove(of.path);
  return {};
}

// A joined access that failed is tried again piece by piece, so that a failure ends exactly the requests it belongs
// to.
void Engine::finish_access(Executor::Ended& end) {
  if (!end.status.ok() && end.access.parts.size() > 1) {
    for (const Access::Part& part : end.access.parts) executor_.start(access_of(part), target(end.access.file));
    return;
  }
  for (const Access::Part& part : end.access.parts) {
    const uint32_t slot = part.request->slot;
    TAILRACE_ASSERT(pieces_left_[slot] > 0);
    note_begun(slot, end.begun);
    if (end.access.parts.size() > 1) course_[slot].merged = true;
    if (outcome_[slot].ok()) outcome_[slot] = end.status;
    if (--pieces_left_[slot] == 0) finish(part.request, std::exchange(outcome_[slot], Status{}));
  }
}

// Of the pieces of a request, the first to begin counts.
void Engine::note_begun(uint32_t slot, Nanoseconds begun) {
  course_[slot].begun = std::min(course_[slot].begun, begun);
}

void Engine::finish(const Request* request, Status status) {
  const FileId id = request->file;
  const bool gone = request->operation == Operation::publish || request->operation == Operation::close ||
                    request->operation == Operation::remove;
  if (!status.ok() && request->operation != Operation::read && file(id).failure.ok()) file(id).failure = status;
  Request ended = queue_.finish(request->slot, status, ready_);
  ended.course = std::exchange(course_[ended.slot], {});
  ended.course.ended = clock_.now();
  ended.course.begun = std::min(ended.course.begun, ended.course.ended);
  counts_.merged += ended.course.merged ? 1 : 0;
  for (const Request* ready : ready_) scheduler_.push(ready);
  ready_.clear();
  if (gone) files_.erase(id);
  if (ended.sink != nullptr) ended.sink->ended(ended, status);
}

Engine::Counts Engine::counts() const {
  Counts counts = counts_;
  counts.transfers = executor_.counts();
  return counts;
}

Engine::File& Engine::file(FileId id) {
  const auto found = files_.find(id);
  TAILRACE_ASSERT(found != files_.end());
  return found->second;
}

ExecutionTarget Engine::target(FileId id) {
  const File& of = file(id);
  return {of.handle, of.path, of.direct};
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
