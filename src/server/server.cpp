#include "server/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/extents.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kAllocateFrom = uint64_t{64} << 10;  // bytes; smaller extents are not worth a system call

// Blocks that are expected to go past the page cache: those so long.
constexpr uint64_t kDirectFrom = Executor::Options{}.direct_from;

// Requests that one descriptor may need at most.
constexpr uint32_t kRequestsPerVerb = FileGroup::kRequestsAtOnce;

// Reads are of any iteration, at any time; some verbs are of none.
bool begins_iteration(const Descriptor& descriptor) {
  return descriptor.verb != Verb::read && descriptor.iteration >= 0;
}

IterationRecord::Outcome outcome_of(const Departure& how) {
  using Outcome = IterationRecord::Outcome;
  if (how.dropped) return Outcome::dropped;
  if (!how.status.ok()) return Outcome::failed;
  return how.written ? Outcome::published : Outcome::empty;
}

}  // namespace

Server::Server(const Config& config, int client, ClientEnds& to_client, Engine& engine, FileGroup& files,
               TraceLog& trace, FilterCrew* crew)
    : config_(config),
      client_(static_cast<uint32_t>(client)),
      to_client_(to_client),
      engine_(engine),
      files_(files),
      format_(files.format()),
      trace_(trace),
      crew_(crew),
      shapes_(config),
      meter_(to_client.iterations(), engine.clock(), crew != nullptr ? crew->worked() : Nanoseconds::zero()),
      file_meter_(to_client.files(), engine) {
  TAILRACE_REQUIRE(to_client.variables().size() == config.variables.size());
  const std::vector<Variable>& variables = config.variables;
  if (std::any_of(variables.begin(), variables.end(), [](const Variable& of) { return of.filtered(); })) {
    TAILRACE_REQUIRE(crew != nullptr);
    Filtering::Host& host = *this;
    filtering_ = std::make_unique<Filtering>(config, client, to_client, engine, files, *crew, host);
  }
  files_.join(*this);
}

Server::~Server() {
  if (!has_left_) leave();
}

void Server::leave() {
  has_left_ = true;
  if (raw_) raw_->leave();
  file_meter_.look_at_iterations();
  files_.leave(*this);
}

void Server::serve_files(SharedFiles& files) {
  RawFiles::Host& host = *this;
  raw_ = std::make_unique<RawFiles>(config_, client_, to_client_, engine_, files, host, file_meter_);
}

bool Server::ready() const { return engine_.room() >= kRequestsPerVerb; }

void Server::accept(const Descriptor& descriptor) {
  TAILRACE_REQUIRE(ready());
  if (is_flush(descriptor.verb)) {
    flushes_.push_back(descriptor);
    return;
  }
  measure_verb(descriptor);
  begin(descriptor);
}

void Server::measure_verb(const Descriptor& descriptor) {
  if (!begins_iteration(descriptor)) return;
  meter_.begin(descriptor.iteration);
  const bool block = descriptor.verb == Verb::write || descriptor.verb == Verb::borrow;
  if (block) meter_.took(descriptor.iteration, descriptor.bytes.length);
}

void Server::begin(const Descriptor& descriptor) {
  unfinished_.add(descriptor.sequence);
  switch (descriptor.verb) {
    case Verb::write:
    case Verb::borrow: return begin_block(descriptor);
    case Verb::read: ++reads_; return begin_read(descriptor, block_of(descriptor));
    case Verb::end_iteration: return end_iteration(descriptor);
    case Verb::drop_iteration: return drop_iteration(descriptor);
    case Verb::signal: return note_event(descriptor);
    case Verb::parameter: return set_parameter(descriptor);
    case Verb::file_write:
    case Verb::file_write_at: pending_bytes_ += descriptor.block_bytes(); return raw_->begin(descriptor);
    case Verb::file_open:
    case Verb::file_read:
    case Verb::file_sync:
    case Verb::file_borrow:
    case Verb::file_close: return raw_->begin(descriptor);
    case Verb::flush:
    case Verb::close: break;
  }
  TAILRACE_ASSERT(false);
}

void Server::file_verb_ended(const Descriptor& descriptor, const Status& status) {
  end_verb(descriptor, status);
  if (!gives_file_block(descriptor.verb)) return;
  if (writes_file(descriptor.verb)) pending_bytes_ -= descriptor.block_bytes();
  to_client_.give_back(descriptor.bytes.block, descriptor.sequence);
}

void Server::file_write_went(const Descriptor& descriptor, const Request& request, const Status& status) {
  if (!trace_.on()) return;
  uint64_t bytes = 0;
  for (const Piece& piece : request.pieces) bytes += piece.extent.length;
  trace_.add({.what = TraceEvent::What::block,
              .in_pool = descriptor.verb != Verb::file_borrow,
              .failed = !status.ok(),
              .merged = request.course.merged,
              .file = descriptor.variable,
              .variable = TraceEvent::kNone,
              .bytes = bytes,
              .start = Nanoseconds(descriptor.bytes.handed),
              .begun = request.course.begun,
              .end = request.course.ended});
}

void Server::progress() {
  hurry_if_waited_for();
  do {
    engine_.progress();
  } while (begin_more());
  report(engine_.counts());
}

void Server::hurry_if_waited_for() {
  if (config_.holds_writes() && is_waited_for()) engine_.hurry();
}

bool Server::begin_more() {
  return (filtering_ && filtering_->progress()) || files_.progress() || (raw_ && raw_->progress());
}

void Server::report(const Engine::Counts& counts) {
  const bool filtering = crew_ != nullptr && crew_->working();
  meter_.look({engine_.moving(), filtering, crew_ != nullptr ? crew_->worked() : Nanoseconds::zero()});
  copy_counts(counts);
  answer_flushes();
  to_client_.wake_if_memory_came();
}

// Whoever has waited for a flush sees the counts of all before it: they are copied before it is answered.
void Server::copy_counts(const Engine::Counts& counts) {
  ServerCounters& to = to_client_.counters();
  to.busy_nanoseconds.set(static_cast<uint64_t>(counts.busy.count()));
  to.requests_merged.set(counts.merged);
  to.requests_peak.set(counts.pending_peak);
  to.transfers.set(counts.transfers.transfers);
  to.transfers_direct.set(counts.transfers.direct);
  to.transfers_again.set(counts.transfers.again);
  to.transfer_fallbacks.set(counts.transfers.fallbacks);
  to.accesses.set(counts.accesses);
  to.bytes_overwritten.set(counts.overwritten);
  to.bytes_stolen.set(counts.stolen);
  to.bytes_sieved.set(counts.sieved);
}

// With the layout that its variable has now.
Block Server::block_of(const Descriptor& descriptor) const {
  return {descriptor.variable, descriptor.iteration, client(), shapes_.of(descriptor.variable)};
}

void Server::begin_block(const Descriptor& descriptor) {
  const WorkId id = new_work(Kind::block, descriptor, block_of(descriptor));
  Work& work = works_[id];
  if (descriptor.verb == Verb::write) pending_bytes_ += descriptor.bytes.length;
  if (Status writable = files_.writable(descriptor.iteration); !writable.ok()) {
    work.refused = true;
    work.status = std::move(writable);
    return end_work(id);
  }
  if (actions_ != nullptr && descriptor.verb == Verb::write) actions_->came(work.block, descriptor, false);
  if (in_chunks(work.block)) return begin_filtered(id);
  const Result<FileGroup::Place> place = files_.place(work.block);
  work.status = place.ok() ? allocate(place.value()) : place.status();
  if (!work.status.ok()) {
    // One block is lost, so the iteration will never be whole.
    files_.refuse(descriptor.iteration, work.status);
    return end_work(id);
  }
  const std::vector<Extent>& extents = place.value().extents;
  TAILRACE_ASSERT(total_of(extents) == descriptor.bytes.length);
  if (extents.empty()) return end_work(id);  // it has a dataset, and that was all
  Request request;
  request.operation = Operation::write;
  request.file = place.value().file;
  request.pieces = in_turn(extents, memory_of(descriptor));
  // Somebody may wait for a request with a ticket.
  if (descriptor.ticket == kNoTicket) request.phase = FileGroup::phase_of(descriptor.iteration);
  request.immediate = descriptor.ticket != kNoTicket && config_.holds_writes();
  submit(id, std::move(request));
}

Status Server::allocate(const FileGroup::Place& place) {
  Status status;
  for (size_t i = 0; i < place.extents.size() && status.ok(); ++i) {
    if (place.extents[i].length >= kAllocateFrom) status = engine_.allocate(place.file, place.extents[i]);
  }
  return status;
}

// A block in the client's own memory is only read from.
std::byte* Server::memory_of(const Descriptor& descriptor) const {
  const Descriptor::Bytes& bytes = descriptor.bytes;
  if (bytes.block == kNoBlock) return reinterpret_cast<std::byte*>(bytes.address);
  const std::span<std::byte> pool = to_client_.memory();
  TAILRACE_ASSERT(bytes.address + bytes.length <= pool.size());
  return pool.data() + bytes.address;
}

// Begins a block of a filtered variable, whose places are known chunk by chunk, or a read of one.
void Server::begin_filtered(WorkId id) {
  Work& work = works_[id];
  work.status =
      filtering_->begin(id, work.block, work.descriptor, {memory_of(work.descriptor), work.descriptor.bytes.length});
  if (!work.status.ok()) end_work(id);
}

void Server::filtered(WorkId id, const Status& status, const Request::Course& course) {
  Work& work = works_[id];
  work.status = status;
  work.course = course;
  end_work(id);
}

void Server::postponed(WorkId id) {
  const auto node = works_.extract(id);
  const Work& read = node.mapped();
  deferred_[read.block.iteration].push_back({read.descriptor, read.block});
}

void Server::begin_read(const Descriptor& descriptor, const Block& block) {
  if (files_.leaving(block.iteration)) {
    deferred_[block.iteration].push_back({descriptor, block});
    return;
  }
  const WorkId id = new_work(Kind::read, descriptor, block);
  if (in_chunks(block)) return begin_filtered(id);
  Work& work = works_[id];
  std::vector<Extent> extents;
  const Result<FileId> file = file_to_read(work, extents);
  if (!file.ok() || extents.empty()) {
    work.status = file.status();
    return end_work(id);
  }
  Request request;
  request.operation = Operation::read;
  request.file = file.value();
  request.pieces = in_turn(extents, memory_of(descriptor));
  request.immediate = true;
  submit(id, std::move(request));
}

// The iteration's own file while it is being written, which orders the read after pending writes; else the published
// file, opened for this read. Of an iteration that has ended without a file, whatever the format finds under its name
// is of an earlier run.
Result<FileId> Server::file_to_read(Work& work, std::vector<Extent>& extents) {
  const Result<Located> located = format_.locate(work.block);
  if (located.status().code() == TAILRACE_NOT_FOUND) return located.status();
  if (Status gone = files_.why_unpublished(work.block.iteration); !gone.ok()) return gone;
  if (!located.ok()) return located.status();
  extents = located.value().extents;
  const auto unfinished = files_.unfinished_file(work.block.iteration, located.value().file);
  if (unfinished) return *unfinished;
  Result<FileId> file = engine_.open(located.value().path, OpenMode::read, 0, {});
  if (file.ok()) work.file = file.value();
  return file;
}

void Server::end_iteration(const Descriptor& descriptor) {
  meter_.end(descriptor.iteration, Nanoseconds(static_cast<int64_t>(descriptor.waited)));
  if (!ends_.emplace(descriptor.iteration, descriptor).second) return end_twice(descriptor);
  // Where other clients must end it, too, this one is done with it: its flushes must not wait for them.
  const bool actions_wait = actions_ != nullptr && actions_->ending(client(), descriptor.iteration);
  if (!files_.end(*this, descriptor.iteration) || actions_wait) unfinished_.end(descriptor.sequence);
}

void Server::drop_iteration(const Descriptor& descriptor) {
  meter_.end(descriptor.iteration, Nanoseconds::zero());
  if (!ends_.emplace(descriptor.iteration, descriptor).second) return end_twice(descriptor);
  if (actions_ != nullptr) actions_->dropping(client(), descriptor.iteration);
  files_.drop(*this, descriptor.iteration,
              descriptor.unfinished > 0
                  ? fmt::format("{} iterations were unfinished", descriptor.unfinished)
                  : fmt::format("the memory budget of {} bytes was full", config_.memory.budget));
  if (filtering_) filtering_->give_up(descriptor.iteration);
}

// No client of ours does so; one gone wild may.
void Server::end_twice(const Descriptor& descriptor) {
  end_verb(descriptor, Status(TAILRACE_WRONG_ORDER, "the iteration has been ended or dropped before"));
}

void Server::note_event(const Descriptor& descriptor) {
  const Status writable = files_.writable(descriptor.iteration);
  const Status status = writable.ok() ? files_.note_event(descriptor.iteration, descriptor.event) : writable;
  if (actions_ != nullptr && writable.ok()) actions_->raised(client(), descriptor.event, descriptor.iteration);
  end_verb(descriptor, status);
}

Status Server::check_setting(const Descriptor& descriptor) const {
  const Descriptor::Setting& setting = descriptor.setting;
  const size_t before = setting.index == 0 ? 0 : settings_.size();
  if (setting.index != before || setting.index >= setting.count || setting.count > config_.parameters.size()) {
    return Status(TAILRACE_INVALID_ARGUMENT,
                  fmt::format("number {} of {} after {}", setting.index, setting.count, settings_.size()));
  }
  if (setting.index + 1 < setting.count) return {};
  std::vector<Shapes::Setting> all(settings_.begin(), settings_.begin() + static_cast<ptrdiff_t>(before));
  all.push_back({descriptor.variable, setting.value});
  return shapes_.with(all).status();
}

void Server::set_parameter(const Descriptor& descriptor) {
  const Descriptor::Setting& setting = descriptor.setting;
  if (setting.index == 0) settings_.clear();  // of a call that was given up
  settings_.push_back({descriptor.variable, setting.value});
  Status status;
  if (settings_.size() >= setting.count) {
    Result<Shapes::State> state = shapes_.with(std::exchange(settings_, {}));
    status = state.status();
    if (state.ok()) shapes_.take(std::move(state).value());
  }
  end_verb(descriptor, status);
}

void Server::left(int64_t iteration, const Departure& how) {
  meter_.left(iteration, outcome_of(how), how.course.ended);
  file_meter_.look_at_iterations();
  if (how.written) {
    const bool published = how.status.ok();
    ServerCounters& counters = to_client_.counters();
    (published ? counters.iterations_published : counters.iterations_failed).add();
    if (trace_.on() && how.course.begun != Nanoseconds::max()) {
      trace_.add({.what = TraceEvent::What::publish,
                  .failed = !published,
                  .variable = TraceEvent::kNone,
                  .iteration = iteration,
                  .start = how.course.begun,
                  .begun = how.course.begun,
                  .end = how.course.ended});
    }
  }
  const auto node = ends_.extract(iteration);
  TAILRACE_ASSERT(!node.empty());
  end_verb(node.mapped(), how.status);
  give_room(iteration);
  if (actions_ != nullptr) actions_->left(client(), iteration);
  begin_deferred(iteration);
}

void Server::give_room(int64_t iteration) { to_client_.give_room(iteration); }

void Server::gone(int64_t iteration) { begin_deferred(iteration); }

void Server::begin_deferred(int64_t iteration) {
  const auto node = deferred_.extract(iteration);
  if (node.empty()) return;
  for (const Deferred& read : node.mapped()) begin_read(read.descriptor, read.block);
}

void Server::accept_again(const Descriptor& descriptor) {
  if (is_of_file(descriptor.verb)) return accept_file_again(descriptor);
  const bool block = descriptor.verb == Verb::write;
  // The first one's: another layout of the same dataset has been refused.
  if (block)
    layouts_again_.emplace(std::pair(descriptor.variable, descriptor.iteration), block_of(descriptor).layout);
  if (block && has_ended(descriptor)) {
    const ClientEnds::BlockEnd end = to_client_.end_of(descriptor.bytes.block);
    const bool held = end.kept && end.sequence == descriptor.sequence;
    const Block of = block_of(descriptor);
    if (actions_ != nullptr && held) actions_->came(of, descriptor, true);
    if (in_chunks(of)) return;  // its chunks are placed again one by one
    // Its bytes are in the file: take note of where, and of the file.
    const Result<FileGroup::Place> place = files_.place(of);
    if (!place.ok()) files_.fail(descriptor.iteration, place.status());
    return forget_if_failed(of);
  }
  const bool answered = descriptor.ticket != kNoTicket && !to_client_.is_pending(descriptor.ticket);
  if (answered && (descriptor.verb == Verb::read || is_flush(descriptor.verb))) return;
  if (is_flush(descriptor.verb)) return accept(descriptor);
  // Verbs are counted when they come; that is not known of the very last one alone.
  if (begins_iteration(descriptor)) meter_.begin(descriptor.iteration);
  begin(descriptor);
}

void Server::accept_file_again(const Descriptor& descriptor) {
  const bool open = descriptor.verb == Verb::file_open;
  const bool gives = gives_file_block(descriptor.verb);
  if ((open || gives) && has_ended(descriptor)) return;  // of a file: it is closed, or could not be opened
  if (gives || to_client_.is_pending(descriptor.ticket)) return begin(descriptor);
  if (open) raw_->open_again(descriptor);
}

void Server::place_again(Block block, uint64_t index, const FilteredChunk& chunk, const Loss& loss) {
  block.layout = layouts_again_[{block.variable, block.iteration}];
  if (!block.layout) return files_.fail(block.iteration, Status(TAILRACE_INTERNAL, "found a chunk of no block"));
  const Result<FileGroup::Place> place = files_.place_again(block, {index, chunk, loss});
  if (!place.ok()) files_.fail(block.iteration, place.status());
  forget_if_failed(block);
}

// Which of an iteration's blocks an earlier server had lost is not known any more: none of them is believed.
void Server::forget_if_failed(const Block& block) {
  const Status why = files_.failure(block.iteration);
  if (!why.ok()) format_.forget(block, why);
}

void Server::end_again() {
  layouts_again_.clear();
  give_back_forgotten();
}

// Gives back the blocks that the earlier server held for iterations it had published: nobody asks for them again.
void Server::give_back_forgotten() {
  for (uint32_t block = 0; block < to_client_.blocks(); ++block) {
    const ClientEnds::BlockEnd end = to_client_.end_of(block);
    const bool wanted = actions_ != nullptr && actions_->holds(client(), end.sequence);
    if (end.kept && !wanted) to_client_.give_back(block, end.sequence);
  }
}

void Server::give_back(uint32_t block, uint64_t sequence) { to_client_.give_back(block, sequence); }

// Returns true if the client waits for the end of more than single requests, which are `immediate` themselves, or
// soon will wait for memory, or if the engine can take no more.
bool Server::is_waited_for() const {
  return !flushes_.empty() || is_short_of_memory() || (raw_ && raw_->is_waited_for()) || !ready();
}

bool Server::is_short_of_memory() const {
  return 2 * pending_bytes_ > to_client_.memory().size() || to_client_.waits_for_memory();
}

// Returns true if the client may soon wait for iterations to leave.
bool Server::is_short_of_iterations() const { return 2 * ends_.size() > to_client_.iteration_limit(); }

bool Server::hungry() const {
  return works_.empty() && to_client_.has_sent_no_more() && to_client_.waits_for_memory();
}

bool Server::pressed() const {
  return !flushes_.empty() || reads_ > 0 || is_short_of_memory() || is_short_of_iterations();
}

void Server::tell(const Status& failure) { to_client_.report(kNoTicket, failure); }

// A block of the pool is used again only when the verb before has ended.
bool Server::has_ended(const Descriptor& descriptor) const {
  return to_client_.end_of(descriptor.bytes.block).sequence >= descriptor.sequence;
}

Server::WorkId Server::new_work(Kind kind, const Descriptor& descriptor, const Block& block) {
  const WorkId id = next_work_++;
  works_[id].kind = kind;
  works_[id].descriptor = descriptor;
  works_[id].block = block;
  return id;
}

void Server::submit(WorkId id, Request request) {
  request.client = client_;
  request.sequence = works_[id].descriptor.sequence;
  request.sink = this;
  request.token = id;
  engine_.submit(std::move(request));
}

void Server::ended(const Request& request, const Status& status) {
  const auto found = works_.find(request.token);
  TAILRACE_ASSERT(found != works_.end());
  found->second.status = status;
  found->second.course = request.course;
  end_work(request.token);
}

void Server::end_work(WorkId id) {
  const auto node = works_.extract(id);
  TAILRACE_ASSERT(!node.empty());
  const Work& work = node.mapped();
  if (work.file != 0) {
    Request close;
    close.operation = Operation::close;
    close.file = work.file;
    engine_.submit(std::move(close));
  }
  if (work.kind == Kind::block) return end_block(work);
  end_verb(work.descriptor, work.status);
}

void Server::end_block(const Work& work) {
  const Descriptor& descriptor = work.descriptor;
  VariableCounters& of = to_client_.variables()[descriptor.variable];
  ServerCounters& counters = to_client_.counters();
  if (descriptor.verb == Verb::write) pending_bytes_ -= descriptor.bytes.length;
  if (work.status.ok()) {
    if (!in_chunks(work.block)) meter_.stored(descriptor.iteration, descriptor.bytes.length);
    counters.blocks_written.add();
    counters.bytes_written.add(descriptor.bytes.length);
    of.blocks_written.add();
    of.bytes_written.add(descriptor.bytes.length);
  } else {
    counters.blocks_failed.add();
    counters.bytes_failed.add(descriptor.bytes.length);
    of.blocks_failed.add();
    if (!work.refused) files_.fail(descriptor.iteration, work.status);
    if (!work.refused) format_.forget(work.block, work.status);
  }
  measure_block(work);
  end_verb(descriptor, work.status);
  if (descriptor.verb == Verb::write) return_block(descriptor);
}

// Its bytes are in the file: the client gets the block back, now or when actions are done with it.
void Server::return_block(const Descriptor& descriptor) {
  if (actions_ == nullptr || !actions_->keeps(client(), descriptor)) {
    return to_client_.give_back(descriptor.bytes.block, descriptor.sequence);
  }
  to_client_.keep(descriptor.bytes.block, descriptor.sequence);
}

// A block whose file could not be opened never reached the engine: there is nothing to measure.
void Server::measure_block(const Work& work) {
  const Request::Course& course = work.course;
  if (course.begun == Nanoseconds::max()) return;
  const Descriptor& descriptor = work.descriptor;
  const Nanoseconds handed{descriptor.bytes.handed};
  VariableCounters& of = to_client_.variables()[descriptor.variable];
  of.queued.add(static_cast<uint64_t>((course.begun - handed).count()));
  of.writing.add(static_cast<uint64_t>((course.ended - course.begun).count()));
  if (course.merged) of.blocks_merged.add();
  if (course.cached && descriptor.bytes.length >= kDirectFrom) of.blocks_cached.add();
  if (!trace_.on()) return;
  trace_.add({.what = TraceEvent::What::block,
              .in_pool = descriptor.verb == Verb::write,
              .failed = !work.status.ok(),
              .merged = course.merged,
              .variable = descriptor.variable,
              .iteration = descriptor.iteration,
              .bytes = descriptor.bytes.length,
              .start = handed,
              .begun = course.begun,
              .end = course.ended});
}

void Server::end_verb(const Descriptor& descriptor, const Status& status) {
  if (!status.ok()) to_client_.report(descriptor.ticket, about(status, descriptor));
  if (descriptor.verb == Verb::read) --reads_;
  unfinished_.end(descriptor.sequence);
  if (descriptor.ticket == kNoTicket) return;
  to_client_.end_ticket(descriptor.ticket, status.ok());
}

void Server::answer_flushes() {
  const bool closes = is_closing();
  const uint32_t awaited = closes && !ends_.empty() ? files_.yet_to_come() : 0;
  to_client_.set_awaited(awaited);
  if (closes && (awaited > 0 || is_publishing())) return;
  if (files_.completing()) return;  // a flush promises what an earlier server published
  while (!flushes_.empty() && (unfinished_.empty() || unfinished_.first() > flushes_.front().sequence)) {
    file_meter_.look_at_iterations();
    to_client_.end_ticket(flushes_.front().ticket, true);
    flushes_.pop_front();
  }
}

// Returns true if an iteration that the client has ended is on its way to its name.
bool Server::is_publishing() const {
  return std::any_of(ends_.begin(), ends_.end(), [this](const auto& end) { return files_.publishing(end.first); });
}

// `status` with the variable and iteration that it is about, as a client wants to read it.
Status Server::about(const Status& status, const Descriptor& descriptor) const {
  if (is_of_file(descriptor.verb)) return status;  // it says so itself
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
