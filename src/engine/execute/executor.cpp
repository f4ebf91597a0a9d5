#include "engine/execute/executor.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <utility>

namespace tailrace::impl {
namespace {

constexpr size_t kEndedAtOnce = 256;  // then the caller gives memory back, and calls again

// Zeroes the first `length` bytes, which belong to a hole.
void zero(std::span<const iovec> segments, uint64_t length) {
  for (const iovec& segment : segments) {
    const uint64_t part = std::min<uint64_t>(length, segment.iov_len);
    std::fill_n(static_cast<std::byte*>(segment.iov_base), part, std::byte{0});
    length -= part;
  }
}

// Returns how many bytes a write transfers.
uint64_t bytes_in(const PlannedTransfer& plan) {
  if (!plan.scattered) return plan.extent.length;
  uint64_t bytes = 0;
  for (const iovec& segment : plan.segments) bytes += segment.iov_base != nullptr ? segment.iov_len : 0;
  return bytes;
}

}  // namespace

// An access or a sync in progress.
struct Executor::Job {
  Access access;
  const Request* sync = nullptr;
  ExecutionTarget target;
  std::vector<Extent> left;  // parts of the access's extent that have not begun, last first
  bool sync_left = false;
  bool made_room = false;  // the file system has been asked to make room
  bool may_be_direct = false;
  bool cached = false;          // see Ended
  bool waits_for_copy = false;  // its next transfer needs a bounce buffer, and none was free
  uint32_t under_way = 0;
  uint32_t fruitless = 0;  // transfers in a row without progress
  std::optional<Nanoseconds> begun;
  Status status;

  bool can_begin() const { return status.ok() && (sync_left || !left.empty()); }
  bool done() const { return under_way == 0 && !can_begin(); }
  bool writes() const { return sync == nullptr && access.operation == Operation::write; }
  const char* operation() const { return sync ? "sync" : name_of(access.operation); }
};

struct Executor::InFlight {
  Job* job = nullptr;  // null: free
  uint32_t tag = 0;
  PlannedTransfer plan;
  std::byte* bounce = nullptr;  // the buffer that holds a copy of the bytes; null: none
};

Executor::Executor(Storage& storage, const Clock& clock, const Options& options)
    : storage_(storage),
      clock_(clock),
      options_(options),
      pace_(options.rate),
      in_flight_(storage.capabilities().depth),
      bounce_(options.bounce_bytes, options.bounce_count, options.bounce_prefault) {
  for (uint32_t tag = static_cast<uint32_t>(in_flight_.size()); tag-- > 0;) {
    in_flight_[tag] = std::make_unique<InFlight>();
    in_flight_[tag]->tag = tag;
    free_tags_.push_back(tag);
  }
}

Executor::~Executor() { TAILRACE_REQUIRE(idle()); }

bool Executor::has_room() const {
  if (free_tags_.empty()) return false;
  return std::none_of(jobs_.begin(), jobs_.end(), [](const auto& job) { return job->can_begin(); });
}

void Executor::start(Access access, ExecutionTarget target) {
  auto job = std::make_unique<Job>();
  job->left.push_back(access.extent);
  job->access = std::move(access);
  job->target = std::move(target);
  job->may_be_direct = job->target.direct && storage_.capabilities().direct_alignment > 0;
  jobs_.push_back(std::move(job));
}

void Executor::start_sync(const Request* request, ExecutionTarget target) {
  auto job = std::make_unique<Job>();
  job->sync = request;
  job->sync_left = true;
  job->target = std::move(target);
  jobs_.push_back(std::move(job));
}

// A storage may end transfers as fast as they begin. So their memory is given back between.
void Executor::progress(std::vector<Ended>& ended) {
  Completion done[32];
  bool more = true;
  while (more && ended.size() < kEndedAtOnce) {
    const size_t count = storage_.reap(done);
    for (size_t i = 0; i < count; ++i) complete(done[i]);
    if (count > 0) retire(ended);
    // Submitted transfers begin at the next reap() at the latest, all together.
    const bool submitted = begin_transfers();
    more = count > 0 || submitted;
  }
  retire(ended);
}

// Returns true if it began any. The storage begins one copy before the next is made, so that they overlap.
bool Executor::begin_transfers() {
  bool submitted = false;
  held_ = false;
  for (const auto& job : jobs_) {
    while (job->can_begin() && !(job->waits_for_copy && bounce_.all_in_use())) {
      if (free_tags_.empty()) return submitted;
      if (!may_begin(*job)) {
        withdraw(*job);
        break;
      }
      if ((held_ = is_held(*job))) return submitted;
      const Begun begun = begin(*job);
      if (begun == Begun::nothing) break;
      if (begun == Begun::copy) return true;
      submitted = true;
    }
  }
  return submitted;
}

bool Executor::is_held(const Job& job) const { return job.writes() && !pace_.allows(clock_.now()); }

bool Executor::may_begin(const Job& job) const {
  if (!may_begin_) return true;
  if (job.sync) return may_begin_(job.sync->client);
  std::optional<uint32_t> last;
  for (const Access::Part& part : job.access.parts) {
    if (part.request == nullptr || part.request->client == last) continue;
    if (!may_begin_(part.request->client)) return false;
    last = part.request->client;
  }
  return true;
}

// The storage still ends what it has already.
void Executor::withdraw(Job& job) {
  job.status = withdrawn();
  job.waits_for_copy = false;
  if (!job.begun) job.begun = clock_.now();
}

Executor::Begun Executor::begin(Job& job) {
  if (job.sync) {
    begin_sync(job);
    return Begun::transfer;
  }
  Extent& range = job.left.back();
  PlannedTransfer planned = plan(job, range);
  std::byte* const bounce = planned.bounced ? copy(planned) : nullptr;
  job.waits_for_copy = planned.bounced && bounce == nullptr;
  // Another transfer's end returns a buffer; if there is no memory for buffers, the next plan uses none.
  if (job.waits_for_copy) return bounce_.bytes() > 0 ? Begun::nothing : begin(job);
  InFlight& flight = take_flight(job, std::move(planned));
  flight.bounce = bounce;
  const uint64_t room = room_for(job, range, flight.plan);
  job.cached = job.cached || (job.may_be_direct && is_long_and_cached(flight.plan));
  const uint64_t length = flight.plan.extent.length;
  if (job.writes()) {
    const uint64_t bytes = bytes_in(flight.plan);
    pace_.took(bytes, clock_.now());
    counts_.bytes_written += bytes;
  }
  range = {range.offset + length, range.length - length};
  if (range.length == 0) job.left.pop_back();
  if (job.access.holes > 0 && !job.writes()) throw_holes_away(flight.plan, flight.tag);
  submit(job, flight, room);
  return bounce != nullptr ? Begun::copy : Begun::transfer;
}

void Executor::begin_sync(Job& job) {
  Transfer transfer;
  transfer.kind = Transfer::Kind::sync;
  transfer.file = job.target.handle;
  transfer.tag = take_flight(job, {}).tag;
  job.sync_left = false;
  storage_.submit(transfer);
}

PlannedTransfer Executor::plan(const Job& job, const Extent& range) const {
  const Capabilities& capabilities = storage_.capabilities();
  const bool writes = job.access.operation == Operation::write;
  const TransferLimits limits{.largest = options_.largest_transfer,
                              .direct_from = options_.direct_from,
                              .max_segments = capabilities.max_segments,
                              .direct_alignment = job.target.direct ? capabilities.direct_alignment : 0,
                              .largest_cached = options_.largest_cached,
                              .bounce = writes ? bounce_.bytes() : 0};
  return next_transfer(job.access, range, limits);
}

// Copies the bytes of the transfer into a buffer and makes the transfer use it. Null if no buffer is free.
std::byte* Executor::copy(PlannedTransfer& planned) {
  std::byte* const buffer = bounce_.fill(planned.segments);
  if (buffer != nullptr) planned.segments.assign(1, {buffer, planned.extent.length});
  return buffer;
}

Executor::InFlight& Executor::take_flight(Job& job, PlannedTransfer planned) {
  InFlight& flight = *in_flight_[free_tags_.back()];
  free_tags_.pop_back();
  flight.job = &job;
  flight.plan = std::move(planned);
  ++job.under_way;
  if (!job.begun) job.begun = clock_.now();
  ++counts_.transfers;
  return flight;
}

void Executor::submit(const Job& job, const InFlight& flight, uint64_t room) {
  Transfer transfer;
  transfer.kind = job.access.operation == Operation::read ? Transfer::Kind::read : Transfer::Kind::write;
  transfer.direct = flight.plan.direct;
  transfer.file = job.target.handle;
  transfer.offset = flight.plan.extent.offset;
  transfer.segments = flight.plan.segments;
  transfer.tag = flight.tag;
  transfer.room = room;
  transfer.scattered = flight.plan.scattered;
  counts_.direct += transfer.direct ? 1 : 0;
  storage_.submit(transfer);
}

bool Executor::is_long_and_cached(const PlannedTransfer& plan) const {
  return !plan.direct && !plan.scattered &&
         plan.extent.length >= std::min(options_.direct_from, options_.largest_cached);
}

// Returns the room to ask for: once per access, and not if only its ragged ends go through the page cache.
uint64_t Executor::room_for(Job& job, const Extent& range, const PlannedTransfer& plan) const {
  const bool large = job.access.operation == Operation::write && range.length >= options_.room_from;
  if (job.made_room || !large || !is_long_and_cached(plan)) return 0;
  job.made_room = true;
  return range.length;
}

// Gives each transfer memory of its own for holes, so that no two write to the same.
void Executor::throw_holes_away(PlannedTransfer& plan, uint32_t tag) {
  if (!thrown_away_) {
    thrown_away_ = std::make_unique_for_overwrite<std::byte[]>(in_flight_.size() * options_.largest_hole);
  }
  for (iovec& segment : plan.segments) {
    if (segment.iov_base != nullptr) continue;
    TAILRACE_ASSERT(segment.iov_len <= options_.largest_hole);
    segment.iov_base = thrown_away_.get() + tag * options_.largest_hole;
  }
}

bool Executor::throws_away(const void* memory) const {
  if (!thrown_away_) return false;
  const auto at = reinterpret_cast<uintptr_t>(memory);
  const auto begin = reinterpret_cast<uintptr_t>(thrown_away_.get());
  return at >= begin && at - begin < in_flight_.size() * options_.largest_hole;
}

void Executor::complete(const Completion& completion) {
  TAILRACE_ASSERT(completion.tag < in_flight_.size());
  const auto tag = static_cast<uint32_t>(completion.tag);
  InFlight& flight = *in_flight_[tag];
  TAILRACE_ASSERT(flight.job != nullptr);
  free_tags_.push_back(tag);
  if (flight.bounce != nullptr) bounce_.release(std::exchange(flight.bounce, nullptr));
  Job& job = *std::exchange(flight.job, nullptr);
  TAILRACE_ASSERT(job.under_way > 0);
  --job.under_way;
  settle(job, flight, completion.result);
}

void Executor::settle(Job& job, InFlight& flight, int64_t result) {
  const Extent& extent = flight.plan.extent;
  const bool reads = !job.sync && job.access.operation == Operation::read;
  if (result == 0 && reads) result = fill_hole(job, flight);
  // The end of a file stays where it is, so a retry of a read is useless there.
  const bool fruitless = result == -EINTR || result == -EAGAIN || (result == 0 && !job.sync && !reads);
  if (fruitless && ++job.fruitless < options_.patience) {
    ++counts_.again;
    if (job.sync) {
      job.sync_left = true;
    } else {
      job.left.push_back(extent);
    }
    return;
  }
  if (result == -EINVAL && flight.plan.direct) {
    // The file system accepted O_DIRECT at open and refuses it now; the page cache always works.
    job.target.direct = false;
    ++counts_.fallbacks;
    job.left.push_back(extent);
    return;
  }
  if (result < 0 || (result == 0 && !job.sync)) {
    if (job.status.ok()) job.status = failure(job, extent, result);  // report the first cause
    return;
  }
  job.fruitless = 0;
  const auto moved = static_cast<uint64_t>(result);
  TAILRACE_ASSERT(moved <= extent.length);
  if (job.writes() && !flight.plan.direct && storage_.capabilities().write_behind) {
    behind_.note(job.target.handle, {extent.offset, moved}, clock_.now());
  }
  if (moved == extent.length) return;
  ++counts_.again;
  job.left.push_back({extent.offset + moved, extent.length - moved});
}

// Fills a hole after a read has found the file's end: bytes before the end of pending writes are a hole. Returns
// their number.
int64_t Executor::fill_hole(const Job& job, const InFlight& flight) {
  const Extent& extent = flight.plan.extent;
  if (extent.offset >= job.target.written_to) return 0;
  const uint64_t length = std::min(extent.end(), job.target.written_to) - extent.offset;
  zero(flight.plan.segments, length);
  return static_cast<int64_t>(length);
}

Status Executor::failure(const Job& job, const Extent& extent, int64_t result) const {
  const std::string& path = job.target.path;
  Status status = Status::of_errno(job.operation(), path, result < 0 ? static_cast<int>(-result) : EIO);
  const Status why = result < 0 ? storage_.failure_of(job.target.handle) : Status();
  if (result < 0 && why.ok()) return status;
  Fault fault = status.fault();
  if (!why.ok()) {
    fault.message = fmt::format("{}: {}", job.operation(), why.fault().message);
    return Status(std::move(fault));
  }
  fault.message = job.access.operation == Operation::read
                      ? fmt::format("read '{}': the file ends before byte {}", path, extent.end())
                      : fmt::format("write '{}': the system accepts no bytes at offset {}", path, extent.offset);
  return Status(std::move(fault));
}

void Executor::retire(std::vector<Ended>& ended) {
  for (auto it = jobs_.begin(); it != jobs_.end();) {
    Job& job = **it;
    if (!job.begun && !job.waits_for_copy) return;  // jobs that wait for no buffer begin in order
    if (!job.done()) {
      ++it;
      continue;
    }
    ended.push_back({std::move(job.access), job.sync, std::move(job.status), *job.begun, job.cached});
    it = jobs_.erase(it);
  }
}

}  // namespace tailrace::impl
