#include "session/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "session/publication.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kAllocateFrom = uint64_t{64} << 10;  // bytes; smaller blocks are not worth a system call

constexpr size_t kUnpublishedRemembered = 4096;  // iterations

// What one descriptor may need at most: a publication, and opening and closing around it.
constexpr uint32_t kRequestsPerVerb = kMaxPublicationRequests + 3;

// What the end of an iteration is told after one of its blocks was lost, which has been told on its own.
Status not_published(const Status& why) {
  Fault fault = why.fault();
  fault.code = TAILRACE_NOT_PUBLISHED;
  fault.operation = "publish";
  fault.message = "its file is not published since something in it failed: " + fault.message;
  return Status(std::move(fault));
}

}  // namespace

Server::Server(const Config& config, int client, Channel& channel, Engine& engine, Format& format, Log& log,
               TraceLog& trace)
    : config_(config),
      client_(static_cast<uint32_t>(client)),
      channel_(channel),
      engine_(engine),
      format_(format),
      log_(log),
      trace_(trace) {
  TAILRACE_REQUIRE(channel.variables.size() == config.variables.size());
}

bool Server::ready() const { return engine_.room() >= kRequestsPerVerb; }

void Server::accept(const Descriptor& descriptor) {
  TAILRACE_REQUIRE(ready());
  if (descriptor.verb == Verb::flush) {
    flushes_.push_back(descriptor);
    return;
  }
  unfinished_.insert(descriptor.sequence);
  switch (descriptor.verb) {
    case Verb::write:
    case Verb::borrow: return begin_block(descriptor);
    case Verb::read: return begin_read(descriptor);
    case Verb::end_iteration: return begin_publication(descriptor);
    case Verb::drop_iteration: return begin_drop(descriptor);
    case Verb::signal: return note_event(descriptor);
    case Verb::flush: break;
  }
  TAILRACE_ASSERT(false);
}

void Server::progress() {
  engine_.progress();
  copy_counts();
  answer_flushes();
}

// Whoever has waited for a flush sees the counts of all before it: they are copied before it is answered.
void Server::copy_counts() {
  const Engine::Counts counts = engine_.counts();
  ServerCounters& to = channel_.counters;
  to.busy_nanoseconds.set(static_cast<uint64_t>(counts.busy.count()));
  to.requests_merged.set(counts.merged);
  to.requests_peak.set(counts.pending_peak);
  to.transfers.set(counts.transfers.transfers);
  to.transfers_direct.set(counts.transfers.direct);
  to.transfers_again.set(counts.transfers.again);
  to.transfer_fallbacks.set(counts.transfers.fallbacks);
}

void Server::begin_block(const Descriptor& descriptor) {
  const WorkId id = new_work(Kind::block, descriptor);
  Work& work = works_[id];
  Iteration& iteration = iterations_[descriptor.iteration];
  const Result<Extent> extent = format_.place({descriptor.variable, descriptor.iteration, static_cast<int>(client_)});
  work.status = extent.ok() ? open_file(descriptor.iteration, iteration) : extent.status();
  if (work.status.ok() && extent.value().length >= kAllocateFrom) {
    work.status = engine_.allocate(iteration.file, extent.value());
  }
  if (!work.status.ok()) {
    // One block is lost, so the iteration will never be whole.
    iteration.failure = work.status;
    return end_work(id);
  }
  TAILRACE_ASSERT(extent.value().length == descriptor.bytes.length);
  std::byte* memory = nullptr;
  if (descriptor.verb == Verb::write) {
    TAILRACE_ASSERT(descriptor.bytes.address + descriptor.bytes.length <= channel_.memory.size());
    memory = channel_.memory.data() + descriptor.bytes.address;
  } else {
    memory = reinterpret_cast<std::byte*>(descriptor.bytes.address);  // only read from
  }
  Request request;
  request.operation = Operation::write;
  request.file = iteration.file;
  request.pieces = {{extent.value(), memory}};
  submit(id, std::move(request));
}

void Server::begin_read(const Descriptor& descriptor) {
  const auto found = iterations_.find(descriptor.iteration);
  if (found != iterations_.end() && found->second.leaving) {
    found->second.deferred.push_back(descriptor);
    return;
  }
  const WorkId id = new_work(Kind::read, descriptor);
  Work& work = works_[id];
  Extent extent;
  const Result<FileId> file = file_to_read(descriptor, work, extent);
  if (!file.ok()) {
    work.status = file.status();
    return end_work(id);
  }
  Request request;
  request.operation = Operation::read;
  request.file = file.value();
  request.pieces = {{extent, reinterpret_cast<std::byte*>(descriptor.bytes.address)}};
  submit(id, std::move(request));
}

// The iteration's own file while it is being written, which orders the read after pending writes; else the published
// file, opened for this read.
Result<FileId> Server::file_to_read(const Descriptor& descriptor, Work& work, Extent& extent) {
  const Result<Located> located =
      format_.locate({descriptor.variable, descriptor.iteration, static_cast<int>(client_)});
  if (!located.ok()) return located.status();
  extent = located.value().extent;
  const auto found = iterations_.find(descriptor.iteration);
  if (found != iterations_.end() && found->second.opened) return found->second.file;
  const auto unpublished = unpublished_.find(descriptor.iteration);
  if (unpublished != unpublished_.end()) return unpublished->second;
  Result<FileId> file = engine_.open(located.value().file, OpenMode::read, 0, {});
  if (file.ok()) work.file = file.value();
  return file;
}

void Server::begin_publication(const Descriptor& descriptor) {
  const auto found = iterations_.find(descriptor.iteration);
  if (found == iterations_.end()) return end_verb(descriptor, {});  // nothing was handed over
  Iteration& iteration = found->second;
  const WorkId id = new_work(Kind::publication, descriptor);
  Work& work = works_[id];
  const Status opened = open_file(descriptor.iteration, iteration);
  if (!opened.ok()) work.status = not_published(opened);
  iteration.leaving = true;
  if (!iteration.opened) {
    format_.discard(descriptor.iteration);
    return end_work(id);
  }
  work.names = format_.names(descriptor.iteration);  // by the time of the rename the format may have forgotten them
  Result<FileEnding> ending = format_.finish(descriptor.iteration);
  if (work.status.ok() && !ending.ok()) work.status = ending.status();
  if (!work.status.ok()) {
    Request close;
    close.operation = Operation::close;
    close.file = iteration.file;
    return submit(id, std::move(close));
  }
  work.ending = std::make_unique<FileEnding>(std::move(ending).value());
  std::vector<Request> requests = publication(iteration.file, *work.ending, config_.storage.durability);
  for (Request& request : requests) submit(id, std::move(request));
}

// Writes down that there was such an iteration, and removes what was written of it, once it has been.
void Server::begin_drop(const Descriptor& descriptor) {
  log_.warning("iteration {} is dropped: the memory budget of {} bytes was full", descriptor.iteration,
               config_.memory.budget);
  format_.discard(descriptor.iteration);
  Iteration& iteration = iterations_[descriptor.iteration];
  iteration.leaving = true;
  const WorkId id = new_work(Kind::removal, descriptor);
  works_[id].status = open_journal();
  if (works_[id].status.ok()) submit(id, journal_line(works_[id]));
  if (iteration.opened) {
    Request remove;
    remove.operation = Operation::remove;
    remove.file = iteration.file;
    submit(id, std::move(remove));
  }
  if (works_[id].requests == 0) end_work(id);
}

Status Server::open_journal() {
  if (journal_ != 0) return {};
  const std::string path = fmt::format("{}/{}_c{}.dropped", config_.storage.paths[0], config_.name, client_);
  const Result<FileId> file = engine_.open(path, OpenMode::create, 0, {});
  if (file.ok()) journal_ = file.value();
  return file.status();
}

Request Server::journal_line(Work& work) {
  work.text = fmt::format("iteration {}: dropped, the memory budget of {} bytes was full\n",
                          work.descriptor.iteration, config_.memory.budget);
  Request request;
  request.operation = Operation::write;
  request.file = journal_;
  request.pieces = {{{journal_end_, work.text.size()}, reinterpret_cast<std::byte*>(work.text.data())}};
  journal_end_ += work.text.size();
  return request;
}

void Server::note_event(const Descriptor& descriptor) {
  Iteration& iteration = iterations_[descriptor.iteration];
  const Status status = format_.note_event(descriptor.iteration, descriptor.event);
  if (!status.ok()) iteration.failure = status;
  end_verb(descriptor, status);
}

// Makes the new name of a published file durable.
void Server::begin_directory_sync(const Work& publication) {
  const WorkId id = new_work(Kind::directory, publication.descriptor);
  Work& work = works_[id];
  work.course = publication.course;
  const FileNames& names = publication.names;
  const Result<FileId> opened = engine_.open(names.directory, OpenMode::directory, names.device, {});
  work.status = opened.status();
  if (!opened.ok()) return end_work(id);
  work.file = opened.value();
  Request sync;
  sync.operation = Operation::sync;
  sync.file = opened.value();
  submit(id, std::move(sync));
}

// Opens the iteration's file if it is not; says why it cannot be written if that is known.
Status Server::open_file(int64_t number, Iteration& iteration) {
  if (iteration.opened || !iteration.failure.ok()) return iteration.failure;
  const FileNames& names = format_.names(number);
  const Result<FileId> file = engine_.open(names.temporary, OpenMode::create, names.device, names.final_path);
  if (!file.ok()) {
    iteration.failure = file.status();
    return iteration.failure;
  }
  iteration.opened = true;
  iteration.file = file.value();
  return {};
}

Server::WorkId Server::new_work(Kind kind, const Descriptor& descriptor) {
  const WorkId id = next_work_++;
  works_[id].kind = kind;
  works_[id].descriptor = descriptor;
  return id;
}

void Server::submit(WorkId id, Request request) {
  request.client = client_;
  request.sequence = works_[id].descriptor.sequence;
  request.sink = this;
  request.token = id;
  ++works_[id].requests;
  engine_.submit(std::move(request));
}

void Server::ended(const Request& request, const Status& status) {
  const auto found = works_.find(request.token);
  if (found == works_.end()) {
    TAILRACE_ASSERT(request.operation == Operation::close);  // of a file that was only read or synced
    return;
  }
  Work& work = found->second;
  TAILRACE_ASSERT(work.requests > 0);
  if (work.status.ok()) work.status = status;
  work.course.begun = std::min(work.course.begun, request.course.begun);
  work.course.ended = std::max(work.course.ended, request.course.ended);
  work.course.merged = work.course.merged || request.course.merged;
  if (--work.requests == 0) end_work(request.token);
}

void Server::end_work(WorkId id) {
  const auto node = works_.extract(id);
  TAILRACE_ASSERT(!node.empty());
  const Work& work = node.mapped();
  TAILRACE_ASSERT(work.requests == 0);
  if (work.file != 0) {
    Request close;
    close.operation = Operation::close;
    close.file = work.file;
    close.sink = this;
    close.token = id;
    engine_.submit(std::move(close));
  }
  switch (work.kind) {
    case Kind::block: return end_block(work);
    case Kind::read: return end_verb(work.descriptor, work.status);
    case Kind::publication:
    case Kind::directory: return end_publication(work);
    case Kind::removal:
      remember_unpublished(work.descriptor.iteration, Status(TAILRACE_DROPPED, "the iteration was dropped"));
      end_verb(work.descriptor, work.status);
      return leave(work.descriptor.iteration);
  }
}

void Server::end_block(const Work& work) {
  const Descriptor& descriptor = work.descriptor;
  VariableCounters& of = channel_.variables[descriptor.variable];
  if (work.status.ok()) {
    channel_.counters.blocks_written.add();
    channel_.counters.bytes_written.add(descriptor.bytes.length);
    of.blocks_written.add();
    of.bytes_written.add(descriptor.bytes.length);
  } else {
    channel_.counters.blocks_failed.add();
    of.blocks_failed.add();
    format_.forget({descriptor.variable, descriptor.iteration, static_cast<int>(client_)}, work.status);
  }
  measure_block(work);
  end_verb(descriptor, work.status);
  if (descriptor.verb == Verb::write) {
    channel_.returned.push(descriptor.bytes.block);
    channel_.client_bell.ring();
  }
}

// A block whose file could not be opened never reached the engine: there is nothing to measure.
void Server::measure_block(const Work& work) {
  const Request::Course& course = work.course;
  if (course.begun == Nanoseconds::max()) return;
  const Descriptor& descriptor = work.descriptor;
  const Nanoseconds handed{descriptor.bytes.handed};
  VariableCounters& of = channel_.variables[descriptor.variable];
  of.queued.add(static_cast<uint64_t>((course.begun - handed).count()));
  of.writing.add(static_cast<uint64_t>((course.ended - course.begun).count()));
  if (course.merged) of.blocks_merged.add();
  if (!trace_.on()) return;
  trace_.add({.what = TraceEvent::What::block,
              .in_pool = descriptor.verb == Verb::write,
              .failed = !work.status.ok(),
              .variable = descriptor.variable,
              .iteration = descriptor.iteration,
              .bytes = descriptor.bytes.length,
              .start = handed,
              .begun = course.begun,
              .end = course.ended});
}

// Ends the publication itself, or for `durable` the sync of the directory that completes it.
void Server::end_publication(const Work& work) {
  const bool renamed = work.kind == Kind::publication && work.status.ok();
  if (renamed && config_.storage.durability == Durability::durable) {
    return begin_directory_sync(work);
  }
  // If only its name is not durable, the file is there all the same.
  if (work.kind == Kind::publication && !work.status.ok()) {
    remember_unpublished(work.descriptor.iteration, work.status);
  }
  const bool published = work.status.ok();
  (published ? channel_.counters.iterations_published : channel_.counters.iterations_failed).add();
  if (trace_.on() && work.course.begun != Nanoseconds::max()) {
    trace_.add({.what = TraceEvent::What::publish,
                .failed = !published,
                .variable = TraceEvent::kNone,
                .iteration = work.descriptor.iteration,
                .start = work.course.begun,
                .begun = work.course.begun,
                .end = work.course.ended});
  }
  end_verb(work.descriptor, work.status);
  leave(work.descriptor.iteration);
}

void Server::end_verb(const Descriptor& descriptor, const Status& status) {
  if (!status.ok()) channel_.failures.add(descriptor.ticket, about(status, descriptor));
  unfinished_.erase(descriptor.sequence);
  if (descriptor.ticket == kNoTicket) return;
  channel_.tickets.end(descriptor.ticket, status.ok());
  channel_.client_bell.ring();
}

// The iteration's file is gone from here: whoever waited for that reads the published one.
void Server::leave(int64_t number) {
  const auto node = iterations_.extract(number);
  TAILRACE_ASSERT(!node.empty());
  for (const Descriptor& read : node.mapped().deferred) begin_read(read);
}

void Server::remember_unpublished(int64_t iteration, const Status& why) {
  unpublished_[iteration] = why;
  if (unpublished_.size() > kUnpublishedRemembered) unpublished_.erase(unpublished_.begin());
}

void Server::answer_flushes() {
  while (!flushes_.empty() && (unfinished_.empty() || *unfinished_.begin() > flushes_.front().sequence)) {
    channel_.tickets.end(flushes_.front().ticket, true);
    flushes_.pop_front();
    channel_.client_bell.ring();
  }
}

// `status` with the variable and iteration that it is about, as a client wants to read it.
Status Server::about(const Status& status, const Descriptor& descriptor) const {
  Fault fault = status.fault();
  const bool of_block =
      descriptor.verb == Verb::write || descriptor.verb == Verb::borrow || descriptor.verb == Verb::read;
  if (of_block) fault.variable = config_.variables[descriptor.variable].name;
  fault.iteration = descriptor.iteration;
  fault.message = of_block ? fmt::format("'{}', iteration {}: {}", fault.variable, fault.iteration, fault.message)
                           : fmt::format("iteration {}: {}", fault.iteration, fault.message);
  return Status(std::move(fault));
}

}  // namespace tailrace::impl
