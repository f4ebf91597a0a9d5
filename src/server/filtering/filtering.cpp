#include "server/filtering/filtering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/names/counted.hpp"

namespace tailrace::impl {

Filtering::Filtering(const Declarations& declared, bool holds_writes, int client, ClientEnds& to_client,
                     Engine& engine, FileGroup& files, FilterCrew& crew, Host& host)
    : declared_(declared),
      holds_writes_(holds_writes),
      client_(client),
      to_client_(to_client),
      engine_(engine),
      files_(files),
      crew_(crew),
      host_(host) {
  // Prepare the plans that are known now.
  for (const Variable& variable : declared.variables) {
    if (!variable.filtered()) continue;
    const FilterPlan plan = plan_of(variable, declared.layout_of(variable));
    crew_.provide({&plan, 1});
  }
}

Filtering::~Filtering() {
  TAILRACE_REQUIRE(idle());
  crew_.withdraw(*this);
}

Status Filtering::begin(WorkId id, const Block& block, const Descriptor& descriptor, std::span<std::byte> memory) {
  TAILRACE_REQUIRE(works_.empty() || works_.rbegin()->first < id);
  Work work;
  work.descriptor = descriptor;
  work.block = block;
  work.memory = memory;
  work.plan = plan_of(declared_.variables[block.variable], *block.layout);
  crew_.provide({&work.plan, 1});
  if (!work.is_read()) {
    if (Status status = files_.hold(descriptor.iteration); !status.ok()) return status;
    files_.iterations().expect_block(descriptor.iteration);
    work.held = true;
    if (descriptor.verb == Verb::write) held_bytes_ += memory.size();
  }
  works_.emplace(id, std::move(work));
  waiting_.push_back(id);
  wish();
  return {};
}

void Filtering::give_up(int64_t iteration) {
  std::vector<WorkId> ids;
  for (auto& [id, work] : works_) {
    if (work.is_read() || work.descriptor.iteration != iteration) continue;
    work.given_up = true;
    ids.push_back(id);
  }
  for (const WorkId id : ids) {
    if (works_.contains(id)) end_if_done(id);  // else it has ended behind the one before
  }
}

// ---- turns --------------------------------------------------------------------------------------------------

void Filtering::wish() {
  if (asked_ || waiting_.empty()) return;
  const Work& work = works_.at(waiting_.front());
  if (must_wait(waiting_.front(), work, effort_for(work))) return;
  asked_ = true;
  crew_.ask(*this);
}

bool Filtering::needs_buffer() const {
  if (waiting_.empty()) return false;
  const Work& work = works_.at(waiting_.front());
  return !stays_as_it_is(work, effort_for(work));
}

// Returns true if a block that does not pass through the crew must wait until the blocks before it have their places.
// The engine orders the rest.
bool Filtering::must_wait(WorkId id, const Work& work, Effort effort) const {
  if (!work.is_read() && !stays_as_it_is(work, effort)) return false;
  return std::any_of(works_.begin(), works_.lower_bound(id), [&](const auto& entry) {
    const Work& before = entry.second;
    return !before.is_read() && before.descriptor.variable == work.descriptor.variable &&
           before.descriptor.iteration == work.descriptor.iteration && before.filtered < before.begun;
  });
}

void Filtering::granted(std::optional<FilterBuffer> buffer) {
  asked_ = false;
  while (!waiting_.empty()) {
    const WorkId id = waiting_.front();
    Work& work = works_.at(id);
    const Effort effort = effort_for(work);  // read once: how much memory is left may change at any moment
    const bool bare = stays_as_it_is(work, effort);
    if (must_wait(id, work, effort) || (!bare && !buffer)) break;
    if (!take_up(id, work)) continue;
    next_chunk(id, work, effort, bare ? std::nullopt : std::exchange(buffer, std::nullopt));
    break;
  }
  if (buffer) crew_.give_back(*buffer);
  wish();
}

// Takes the first of the waiting works. Returns true if it can use a turn; otherwise it does not wait any more.
bool Filtering::take_up(WorkId id, Work& work) {
  const int64_t iteration = work.descriptor.iteration;
  if (work.is_read() && work.begun == 0) {
    if (files_.iterations().leaving(iteration)) {
      waiting_.pop_front();
      works_.erase(id);
      host_.postponed(id);
      return false;
    }
    work.status = locate(work);
  } else if (!work.is_read()) {
    work.given_up = files_.iterations().given_up(iteration);
  }
  if (work.wants_more()) return true;
  waiting_.pop_front();
  end_if_done(id);
  return false;
}

// Uses the iteration's own file while it is being written; otherwise opens the published one for this read.
Status Filtering::locate(Work& work) {
  Result<LocatedChunks> located = files_.format().locate_chunks(work.block);
  if (located.status().code() == TAILRACE_NOT_FOUND) return located.status();
  if (Status gone = files_.iterations().why_no_file(work.descriptor.iteration); !gone.ok()) return gone;
  if (!located.ok()) return located.status();
  work.chunks = std::move(located.value().chunks);
  for (const PlacedChunk& chunk : work.chunks) {
    if (chunk.extent.length == 0 || chunk.extent.length > work.plan.stored_chunk_bytes()) {
      return Status(TAILRACE_NOT_FOUND,
                    fmt::format("read '{}': a chunk of the block has {}, expected 1 to {}", located.value().path,
                                counted(chunk.extent.length, "byte"), work.plan.stored_chunk_bytes()));
    }
  }
  if (const auto unfinished = files_.unfinished_file(work.descriptor.iteration, located.value().file)) {
    work.held = files_.hold(work.descriptor.iteration).ok();
    work.file = *unfinished;
    return {};
  }
  work.file = engine_.open(located.value().path, OpenMode::read, 0, {});
  work.own_file = true;
  return {};
}

// `work` may be gone afterwards.
void Filtering::next_chunk(WorkId id, Work& work, Effort effort, std::optional<FilterBuffer> buffer) {
  const uint64_t token = next_token_++;
  const uint64_t index = work.begun++;
  flights_[token] = {id, index, buffer};
  ++work.under_way;
  if (!work.wants_more()) waiting_.pop_front();
  if (work.is_read()) return submit(Operation::read, work.file, work.chunks[index].extent, token);
  FilterJob job = job_of(token);
  job.effort = effort;
  if (buffer) return crew_.start(std::move(job));
  job.chunk = FilteredChunk::as_it_is(work.plan, effort);
  done(job);
}

FilterJob Filtering::job_of(uint64_t token) {
  const Flight& flight = flights_.at(token);
  const Work& work = works_.at(flight.work);
  FilterJob job;
  job.owner = this;
  job.token = token;
  job.plan = &work.plan;  // stays until nothing of the work is under way
  job.block = work.memory;
  job.index = flight.index;
  if (flight.buffer) job.buffer = *flight.buffer;
  return job;
}

std::byte* Filtering::memory_of(const Flight& flight) const {
  if (flight.buffer) return flight.buffer->memory;
  const Work& work = works_.at(flight.work);
  return work.memory.data() + work.plan.range(flight.index).offset;
}

// A chunk without filters is written from its block, and needs neither a buffer nor the crew's time.
bool Filtering::stays_as_it_is(const Work& work, Effort effort) {
  return !work.is_read() && effort == Effort::skipped && work.wants_more() && work.plan.is_plain(work.begun);
}

// Chunks get less effort where clients wait for memory, or soon would. If a client has begun the next iteration while
// this one is not done, filtering is too slow, and memory will be full some day; when half of it is, soon. Within an
// iteration, effort is reduced only when there is hardly any memory left: the computation that follows may give all
// the time that is needed.
Effort Filtering::effort_for(const Work& work) const {
  if (work.is_read() || !declared_.variables[work.descriptor.variable].compress.adaptive) return Effort::full;
  if (to_client_.waits_for_memory()) return Effort::skipped;
  const bool behind = works_.rbegin()->second.descriptor.iteration > work.descriptor.iteration;
  const uint64_t eighths = held_bytes_ * 8 / std::max<uint64_t>(1, to_client_.memory().size());
  if (eighths >= 7 || (behind && eighths >= 4)) return Effort::skipped;
  return behind || eighths >= 6 ? Effort::relaxed : Effort::full;
}

// ---- ends ---------------------------------------------------------------------------------------------------

void Filtering::done(const FilterJob& job) {
  const WorkId id = flights_.at(job.token).work;
  Work& work = works_.at(id);
  if (job.what == FilterJob::What::restore) {
    if (work.status.ok()) work.status = job.status;
    return release(job.token);
  }
  ++work.filtered;
  count(work, job);
  work.given_up = files_.iterations().given_up(work.descriptor.iteration);
  const bool wanted = !work.given_up && work.status.ok();
  if (wanted) work.status = place(work, job);
  if (!wanted || !work.status.ok()) release(job.token);
  wish();
}

Status Filtering::place(const Work& work, const FilterJob& job) {
  const Result<FileGroup::Place> place = files_.place(work.block, {job.index, job.chunk, job.loss});
  if (!place.ok()) return place.status();
  submit(Operation::write, place.value().file, place.value().extents[0], job.token);
  return {};
}

void Filtering::submit(Operation operation, FileId file, Extent extent, uint64_t token) {
  const Flight& flight = flights_.at(token);
  Request request;
  request.operation = operation;
  request.file = file;
  request.pieces = {{extent, memory_of(flight)}};
  request.client = static_cast<uint32_t>(client_);
  request.sequence = works_.at(flight.work).descriptor.sequence;
  request.sink = this;
  request.token = token;
  request.immediate = holds_writes_;  // others wait for its buffer
  engine_.submit(std::move(request));
}

void Filtering::ended(const Request& request, const Status& status) {
  const WorkId id = flights_.at(request.token).work;
  Work& work = works_.at(id);
  if (work.status.ok()) work.status = status;
  if (!work.is_read() && !status.ok()) files_.format().forget(work.block, status);
  work.course.begun = std::min(work.course.begun, request.course.begun);
  work.course.ended = std::max(work.course.ended, request.course.ended);
  work.course.merged = work.course.merged || request.course.merged;
  if (!work.is_read() || !status.ok()) return release(request.token);
  FilterJob job = job_of(request.token);
  job.what = FilterJob::What::restore;
  job.chunk.bytes = work.chunks[job.index].extent.length;
  job.chunk.skipped = work.chunks[job.index].skipped;
  crew_.start(std::move(job));
}

void Filtering::release(uint64_t token) {
  const auto node = flights_.extract(token);
  const Flight& flight = node.mapped();
  if (flight.buffer) crew_.give_back(*flight.buffer);
  --works_.at(flight.work).under_way;
  end_if_done(flight.work);
}

// The chunks of a read are read one by one. The write of a chunk may fail after the read has begun, and end before
// the chunk is read: then the engine no longer reports the failure for that chunk, but the block is forgotten.
Status Filtering::end_of_read(const Work& work) {
  if (!work.status.ok() || !work.held) return work.status;
  return files_.format().locate_chunks(work.block).status();
}

void Filtering::end_if_done(WorkId id) {
  const auto found = works_.find(id);
  if (found->second.under_way > 0 || found->second.wants_more()) return;
  std::erase(waiting_, id);
  if (follows_another(id, found->second)) return;
  const auto node = works_.extract(found);
  const Work& work = node.mapped();
  const Descriptor& descriptor = work.descriptor;
  if (descriptor.verb == Verb::write) held_bytes_ -= work.memory.size();
  if (!work.is_read() && work.filtered > 0) {
    to_client_.variables()[descriptor.variable].filtering.add(static_cast<uint64_t>(work.filtering.count()));
  }
  if (work.own_file) {
    Request close;
    close.operation = Operation::close;
    close.file = work.file;
    engine_.submit(std::move(close));
  }
  host_.filtered(id, work.is_read() ? end_of_read(work) : work.status, work.course);
  // The host has already reported a failure to the group.
  if (work.held) files_.release(descriptor.iteration);
  wish();
  const auto next = std::find_if(works_.upper_bound(id), works_.end(),
                                 [&](const auto& later) { return follows(later.second, work); });
  if (next != works_.end()) end_if_done(next->first);
}

// Returns true if both write the same block.
bool Filtering::follows(const Work& later, const Work& earlier) {
  return !later.is_read() && !earlier.is_read() && later.descriptor.variable == earlier.descriptor.variable &&
         later.descriptor.iteration == earlier.descriptor.iteration;
}

// Writes of one block end in their order, although each has its own place in the file: the successor of a dead server
// repeats those that have not ended, and would replace the later ones by them.
bool Filtering::follows_another(WorkId id, const Work& work) const {
  return std::any_of(works_.begin(), works_.lower_bound(id),
                     [&](const auto& before) { return follows(work, before.second); });
}

void Filtering::count(Work& work, const FilterJob& job) {
  work.filtering += job.took;
  VariableCounters& of = to_client_.variables()[work.descriptor.variable];
  of.chunks_filtered.add();
  if (job.chunk.effort == Effort::relaxed) of.chunks_relaxed.add();
  if (job.chunk.effort == Effort::skipped) of.chunks_skipped.add();
  of.bytes_filtered.add(work.plan.range(job.index).length);
  of.bytes_stored.add(job.chunk.bytes);
  IterationRecord* const record = to_client_.iterations().find(work.descriptor.iteration);
  if (record == nullptr) return;
  record->chunks_filtered.add();
  if (job.chunk.effort == Effort::relaxed) record->chunks_relaxed.add();
  if (job.chunk.effort == Effort::skipped) record->chunks_skipped.add();
  record->bytes_stored.add(job.chunk.bytes);
}

}  // namespace tailrace::impl
