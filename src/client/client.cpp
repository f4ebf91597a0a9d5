#include "client/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/memory/stream_copy.hpp"
#include "model/nearest_word.hpp"

namespace tailrace::impl {
namespace {

// Longer than any program runs, and far from an overflow when it is counted in nanoseconds.
constexpr std::chrono::milliseconds kForever = std::chrono::hours{24 * 365 * 100};

uint64_t count_of(Nanoseconds time) { return static_cast<uint64_t>(time.count()); }

}  // namespace

Client::Client(const Config& config, Place& place, const Clock& clock, Log& log, TraceLog& trace)
    : config_(config),
      place_(place),
      channel_(place.channel()),
      clock_(clock),
      log_(log),
      trace_(trace),
      pool_(channel_.memory.size(), channel_.returned),
      iterations_(config.variables.size()),
      shapes_(config),
      sent_(channel_.returned.capacity(), 0),
      variables_(config.variables.size()),
      ticket_variable_(channel_.tickets.capacity(), TraceEvent::kNone),
      files_(static_cast<ClientFiles::Host&>(*this), config.file_path(""), channel_.files,
             config.merge.read_after == ReadAfter::submitted) {
  for (const Variable& variable : config.variables) enabled_.push_back(variable.enabled);
  if (trace_.on()) files_.keep_names();
}

Status Client::write(std::string_view variable, int64_t iteration, const void* data) {
  const Nanoseconds start = clock_.now();
  const Nanoseconds waited = counters_.waiting_memory;
  const Result<uint32_t> index = find(variable);
  if (!index.ok()) return index.status();
  if (!enabled_[index.value()]) return {};
  const Result<Iteration*> open_iteration = open(iteration);
  if (!open_iteration.ok()) {
    count_dropped(index.value(), open_iteration.status());
    return about(open_iteration.status(), "write", variable, iteration);
  }
  Iteration& of = *open_iteration.value();
  const uint64_t bytes = bytes_of(index.value());
  const auto block = take_memory(bytes, of, true);
  if (!block.ok()) {
    count_dropped(index.value(), block.status());
    return about(block.status(), "write", variable, iteration);
  }
  if (!block.value()) return write_through(index.value(), of, data, start);
  const Nanoseconds copied = copy_in(*block.value(), data, bytes, start + (counters_.waiting_memory - waited));
  if (Status sent = send_block(index.value(), of, *block.value(), copied, kNoTicket); !sent.ok()) return sent;
  end_handover(What::write, index.value(), iteration, start, Nanoseconds::zero());
  return {};
}

Result<void*> Client::alloc(std::string_view variable, int64_t iteration) {
  const Nanoseconds start = clock_.now();
  const Result<uint32_t> index = find(variable);
  if (!index.ok()) return index.status();
  const Result<Iteration*> open_iteration = open(iteration);
  if (!open_iteration.ok()) {
    count_dropped(index.value(), open_iteration.status());
    return about(open_iteration.status(), "alloc", variable, iteration);
  }
  Iteration& of = *open_iteration.value();
  OpenIterations::Uncommitted& held = of.uncommitted[index.value()];
  if (!held.held()) {
    const uint64_t bytes = bytes_of(index.value());
    const auto block = take_memory(bytes, of, false);
    if (!block.ok()) {
      count_dropped(index.value(), block.status());
      return about(block.status(), "alloc", variable, iteration);
    }
    const Nanoseconds end = clock_.now();
    held = {*block.value(), end - start};
    uncommitted_ += RangeAllocator::rounded(bytes);
    note(What::alloc, index.value(), iteration, start, end);
  }
  return static_cast<void*>(channel_.memory.data() + held.block.offset);
}

Result<std::unique_ptr<Hold>> Client::keep(std::string_view variable, int64_t iteration) {
  const Result<uint32_t> index = find(variable);
  if (!index.ok()) return index.status();
  Iteration* const of = iterations_.find(iteration);
  TAILRACE_REQUIRE(of != nullptr && of->uncommitted[index.value()].held());
  auto hold = pool_.hold(of->uncommitted[index.value()].block, place_.memory());
  if (hold) return hold;
  return about(Status(TAILRACE_BUDGET_HELD, "found too many blocks that the program keeps; it must release some"),
               "alloc", variable, iteration);
}

Status Client::commit(std::string_view variable, int64_t iteration) {
  const Nanoseconds start = clock_.now();
  const Result<uint32_t> index = find(variable);
  if (!index.ok()) return index.status();
  Iteration* const of = iterations_.find(iteration);
  if (of == nullptr || iteration < 0 || !of->uncommitted[index.value()].held()) {
    return about(Status(TAILRACE_WRONG_ORDER, "found no block allocated for it; alloc must come before commit"),
                 "commit", variable, iteration);
  }
  const auto [block, spent] = std::exchange(of->uncommitted[index.value()], {});
  uncommitted_ -= RangeAllocator::rounded(bytes_of(index.value()));
  if (!enabled_[index.value()]) {
    pool_.free(block);
    return {};
  }
  if (of->dropped) {
    pool_.free(block);
    ++counters_.blocks_dropped;
    ++variables_[index.value()].blocks_refused;
    return about(Status(TAILRACE_DROPPED, "the iteration was dropped"), "commit", variable, iteration);
  }
  if (Status sent = send_block(index.value(), *of, block, start, kNoTicket); !sent.ok()) return sent;
  end_handover(What::commit, index.value(), iteration, start, spent);
  return {};
}

Result<uint64_t> Client::borrow(std::string_view variable, int64_t iteration, const void* data) {
  const Nanoseconds start = clock_.now();
  const Result<uint32_t> index = find(variable);
  if (!index.ok()) return index.status();
  if (!enabled_[index.value()]) return kNoTicket;
  const Result<Iteration*> of = open(iteration);
  if (!of.ok()) {
    count_dropped(index.value(), of.status());
    return about(of.status(), "borrow", variable, iteration);
  }
  const Result<uint64_t> ticket = place_.reaches_client() ? send_borrowed(index.value(), *of.value(), data, start)
                                                          : send_copied(index.value(), *of.value(), data, start);
  if (!ticket.ok()) {
    count_dropped(index.value(), ticket.status());
    return about(ticket.status(), "borrow", variable, iteration);
  }
  end_handover(What::borrow, index.value(), iteration, start, Nanoseconds::zero());
  return ticket;
}

Status Client::end_iteration(int64_t iteration) {
  const Nanoseconds start = trace_.on() ? clock_.now() : Nanoseconds::zero();
  if (iteration < 0) {
    return Status(TAILRACE_INVALID_ARGUMENT,
                  fmt::format("end_iteration: found iteration {}, expected 0 or more", iteration));
  }
  if (iterations_.has_ended(iteration)) return {};
  Iteration* of = iterations_.find(iteration);
  if (of == nullptr && config_.shares_files()) {  // others may write into its file, which waits for the word of all
    const Result<Iteration*> begun = begin(iteration);
    if (!begun.ok() && begun.status().code() != TAILRACE_DROPPED) {
      return about(begun.status(), "end_iteration", {}, iteration);
    }
    of = iterations_.find(iteration);
  }
  if (of != nullptr) {
    for (uint32_t variable = 0; variable < of->uncommitted.size(); ++variable) {
      if (!of->uncommitted[variable].held()) continue;
      return about(Status(TAILRACE_WRONG_ORDER, "found its block allocated but not committed; commit it first"),
                   "end_iteration", config_.variables[variable].name, iteration);
    }
  }
  const bool dropped = of != nullptr && of->dropped;
  if (of != nullptr && !dropped) {
    Descriptor descriptor;
    descriptor.verb = Verb::end_iteration;
    descriptor.iteration = iteration;
    descriptor.waited = count_of(counters_.waiting_memory - waited_before_);
    waited_before_ = counters_.waiting_memory;
    if (Status sent = send(descriptor); !sent.ok()) return about(sent, "end_iteration", {}, iteration);
  }
  iterations_.end(iteration);
  ++counters_.iterations_ended;
  if (trace_.on()) note(What::end_iteration, TraceEvent::kNone, iteration, start, clock_.now());
  if (dropped) {
    return about(Status(TAILRACE_DROPPED, "the iteration was dropped"), "end_iteration", {}, iteration);
  }
  return {};
}

Status Client::signal(std::string_view event, int64_t iteration) {
  if (event.empty() || event.size() > kMaxEvent) {
    return Status(TAILRACE_INVALID_ARGUMENT,
                  fmt::format("signal: found an event name of {} bytes, expected 1 to {}", event.size(), kMaxEvent));
  }
  const Result<Iteration*> of = begin(iteration);
  if (!of.ok()) return about(of.status(), "signal", {}, iteration);
  ++counters_.signals;
  if (of.value()->dropped)
    return about(Status(TAILRACE_DROPPED, "the iteration was dropped"), "signal", {}, iteration);
  Descriptor descriptor;
  descriptor.verb = Verb::signal;
  descriptor.iteration = iteration;
  std::memset(descriptor.event, 0, sizeof descriptor.event);
  std::memcpy(descriptor.event, event.data(), event.size());
  return send(descriptor);
}

Status Client::wait(uint64_t ticket, std::optional<std::chrono::milliseconds> timeout) {
  if (ticket == kNoTicket) return {};
  if (!channel_.tickets.known(ticket)) {
    return Status(TAILRACE_INVALID_ARGUMENT, fmt::format("wait: ticket {} is none of this client's", ticket));
  }
  if (channel_.tickets.look(ticket) == TicketState::pending) {
    const Nanoseconds start = clock_.now();
    const Status ended = wait_for(ticket, timeout);
    const Nanoseconds end = clock_.now();
    counters_.waiting_ticket += end - start;
    const uint32_t variable = ticket_variable_[ticket % ticket_variable_.size()];
    if (variable != TraceEvent::kNone) variables_[variable].waiting.add(count_of(end - start));
    note(What::wait_ticket, variable, -1, start, end);
    if (ended.code() == TAILRACE_TIMEOUT) {
      return Status(TAILRACE_TIMEOUT, "wait: the request has not ended yet: " + ended.fault().message);
    }
    if (!ended.ok()) return ended;
  }
  return end_of(ticket);
}

Status Client::flush() {
  if (config_.storage.durability == Durability::accepted) return {};
  return flush_all(What::flush);
}

Status Client::read(std::string_view variable, int64_t iteration, void* data) {
  const Nanoseconds start = clock_.now();
  const Nanoseconds waited = counters_.waiting_memory;
  const Result<uint32_t> index = find(variable);
  if (!index.ok()) return index.status();
  if (iteration < 0) {
    return about(Status(TAILRACE_INVALID_ARGUMENT, "expected iteration 0 or more"), "read", variable, iteration);
  }
  const Result<uint64_t> ticket = place_.reaches_client() ? read_directly(index.value(), iteration, data, start)
                                                          : read_by_pool(index.value(), iteration, data, start);
  const Nanoseconds end = clock_.now();
  counters_.waiting_ticket += end - start - (counters_.waiting_memory - waited);
  variables_[index.value()].waiting.add(count_of(end - start));
  note(What::read, index.value(), iteration, start, end);
  if (!ticket.ok()) return about(ticket.status(), "read", variable, iteration);
  return end_of(ticket.value());
}

Result<uint64_t> Client::read_directly(uint32_t variable, int64_t iteration, void* data, Nanoseconds start) {
  const Result<uint64_t> ticket = send_read(
      variable, iteration, {reinterpret_cast<uint64_t>(data), bytes_of(variable), kNoBlock, 0, start.count()});
  if (!ticket.ok()) return ticket;
  if (Status waited = wait_for(ticket.value(), std::nullopt); !waited.ok()) return waited;
  return ticket;
}

Result<uint64_t> Client::read_by_pool(uint32_t variable, int64_t iteration, void* data, Nanoseconds start) {
  const uint64_t bytes = bytes_of(variable);
  const auto block = memory_for(bytes);
  if (!block.ok()) return block.status();
  const PoolBlock& at = *block.value();
  const Result<uint64_t> ticket = send_read(variable, iteration, {at.offset, bytes, at.index, 0, start.count()});
  if (!ticket.ok()) return ticket;  // the server is lost: its memory will not be used again
  if (Status waited = wait_for(ticket.value(), std::nullopt); !waited.ok()) return waited;
  if (channel_.tickets.look(ticket.value()) == TicketState::done) {
    if (bytes > 0) std::memcpy(data, channel_.memory.data() + at.offset, bytes);
  }
  pool_.free(at);
  return ticket;
}

Result<uint64_t> Client::send_read(uint32_t variable, int64_t iteration, const Descriptor::Bytes& bytes) {
  const Result<uint64_t> ticket = open_ticket(variable);
  if (!ticket.ok()) return ticket;
  Descriptor descriptor;
  descriptor.verb = Verb::read;
  descriptor.variable = variable;
  descriptor.iteration = iteration;
  descriptor.ticket = ticket.value();
  descriptor.bytes = bytes;
  if (Status sent = send(descriptor); !sent.ok()) return sent;
  return ticket;
}

// ---- raw files ------------------------------------------------------------------------------------------------

Result<PoolBlock> Client::file_block(uint64_t bytes) {
  const auto block = memory_for(bytes);
  if (!block.ok()) return block.status();
  return *block.value();
}

void Client::keep_file_block(uint64_t bytes, bool keep) {
  const uint64_t rounded = RangeAllocator::rounded(bytes);
  uncommitted_ = keep ? uncommitted_ + rounded : uncommitted_ - rounded;
}

Result<uint64_t> Client::send_file_verb(const Descriptor& verb) {
  const uint64_t sequence = sequence_ + 1;
  if (verb.verb != Verb::file_borrow) sent_[verb.bytes.block] = sequence;
  if (Status sent = send(verb); !sent.ok()) return sent;
  return sequence;
}

Result<uint64_t> Client::file_ticket() { return open_ticket(TraceEvent::kNone); }

// relaxed: an end that is not seen yet is of a moment that this read may come before.
bool Client::is_file_verb_pending(uint32_t block, uint64_t sequence) const {
  return EndedMark::sequence(channel_.ended[block].load(std::memory_order_relaxed)) < sequence;
}

Status Client::ask_file_verb(Descriptor verb, bool& in_use) {
  const Result<uint64_t> ticket = open_ticket(TraceEvent::kNone);
  if (!ticket.ok()) return ticket.status();
  verb.ticket = ticket.value();
  if (Status sent = send(verb); !sent.ok()) return sent;
  const Status ended = wait_counted(ticket.value());
  in_use = !ended.ok();
  return ended.ok() ? end_of(ticket.value()) : ended;
}

Status Client::wait_counted(uint64_t ticket) {
  const Nanoseconds start = clock_.now();
  Status ended = wait_for(ticket, std::nullopt);
  counters_.waiting_ticket += clock_.now() - start;
  return ended;
}

Status Client::await_file_verb(uint64_t ticket) {
  const Status ended = wait_counted(ticket);
  return ended.ok() ? end_of(ticket) : ended;
}

void Client::outwait_file_verb(uint64_t ticket) { (void)wait_counted(ticket); }

bool Client::is_file_ticket_pending(uint64_t ticket) const {
  return channel_.tickets.look(ticket) == TicketState::pending;
}

void Client::note_file(What what, uint32_t file, uint64_t bytes, Nanoseconds start) {
  if (!trace_.on()) return;
  trace_.add({.what = what,
              .file = file,
              .variable = TraceEvent::kNone,
              .bytes = bytes,
              .start = start,
              .end = clock_.now()});
}

void Client::finish() {
  if (Status flushed = flush_all(What::close); !flushed.ok()) channel_.failures.add_own(std::move(flushed));
  for (const int64_t iteration : iterations_.numbers()) {
    const Iteration& of = *iterations_.find(iteration);
    if (of.dropped || of.blocks == 0) continue;
    channel_.failures.add_own(about(
        Status(TAILRACE_NOT_PUBLISHED,
               fmt::format("its {} blocks are left unpublished, since end_iteration was not called", of.blocks)),
        "close", {}, iteration));
  }
  for (const auto& [path, how] : files_.unfinished()) {
    Fault fault;
    fault.code = TAILRACE_NOT_PUBLISHED;
    fault.operation = "file_close";
    fault.file = path;
    fault.message = fmt::format("'{}' {}, since it was not closed", path, how);
    channel_.failures.add_own(Status(std::move(fault)));
  }
}

Result<uint32_t> Client::find(std::string_view variable) const {
  const int index = config_.find_variable(variable);
  if (index >= 0) return static_cast<uint32_t>(index);
  std::string declared;
  for (const Variable& known : config_.variables) declared += (declared.empty() ? "" : ", ") + known.name;
  Fault fault;
  fault.code = TAILRACE_UNKNOWN_VARIABLE;
  fault.variable = variable;
  fault.message =
      fmt::format("variable '{}' is not declared in {}; declared are: {}", variable, config_.source, declared);
  return Status(std::move(fault));
}

std::optional<Status> Client::earlier() {
  if (channel_.failures.unseen() == 0) return std::nullopt;
  auto entry = channel_.failures.take_oldest();
  if (!entry) return std::nullopt;
  return std::move(entry->status);
}

Result<uint64_t> Client::iflush() { return send_flush(Verb::flush); }

Result<uint64_t> Client::send_flush(Verb verb) {
  const Result<uint64_t> ticket = open_ticket(TraceEvent::kNone);
  if (!ticket.ok()) return ticket;
  Descriptor descriptor;
  descriptor.verb = verb;
  descriptor.ticket = ticket.value();
  if (Status sent = send(descriptor); !sent.ok()) return sent;
  return ticket;
}

// Waits until everything sent before has ended. Fails only if the place does; what failed of the requests is in the
// failure log.
Status Client::flush_all(What what) {
  const Nanoseconds start = clock_.now();
  const Nanoseconds waited = counters_.waiting_memory;
  const Result<uint64_t> ticket = send_flush(what == What::close ? Verb::close : Verb::flush);
  Status status = ticket.status();
  if (ticket.ok()) status = wait_for(ticket.value(), std::nullopt);
  reclaim();
  const Nanoseconds end = clock_.now();
  counters_.waiting_ticket += end - start - (counters_.waiting_memory - waited);
  note(what, TraceEvent::kNone, -1, start, end);
  return status;
}

uint64_t Client::unseen_failures() const { return channel_.failures.unseen(); }

Result<Client::Iteration*> Client::begin(int64_t iteration) {
  const bool is_new = iteration >= 0 && iterations_.find(iteration) == nullptr && !iterations_.has_ended(iteration);
  const Status room = is_new ? room_for_iteration(iteration) : Status();
  if (!room.ok() && room.code() != TAILRACE_DROPPED) return room;
  const Result<Iteration*> of = iterations_.open(iteration);
  if (!of.ok() || !is_new) return of;
  if (!room.ok()) return drop(*of.value(), channel_.unfinished.limit());
  channel_.unfinished.take(iteration);
  counters_.iterations_peak = std::max<uint64_t>(counters_.iterations_peak, channel_.unfinished.count());
  return of;
}

Status Client::room_for_iteration(int64_t iteration) {
  const IterationTable<>& unfinished = channel_.unfinished;
  const size_t open = iterations_.count();
  // If it has ended none of those that are unfinished, they wait for it: others that share their files are ahead.
  const auto is_room = [&] {
    return unfinished.has_room_for(iteration) || (open < unfinished.limit() && unfinished.count_own() <= open);
  };
  if (is_room()) return {};
  if (open >= std::min<size_t>(unfinished.limit(), OpenIterations::kMaxOpen)) {  // nothing would come of waiting
    return Status(
        TAILRACE_WRONG_ORDER,
        fmt::format("iteration {}: {} iterations are open already, and at most {} may be unfinished "
                    "(memory.iterations, and the limit of open files); the oldest is {}: call end_iteration "
                    "for each when its last block is handed over",
                    iteration, open, unfinished.limit(), iterations_.numbers().front()));
  }
  if (config_.memory.when_full == WhenFull::drop) {
    const Status looked = place_.wait(is_room, Nanoseconds::zero());
    return looked.code() == TAILRACE_TIMEOUT ? Status(TAILRACE_DROPPED, "there is no room for it") : looked;
  }
  if (!std::exchange(warned_of_iterations_, true)) {
    log_.info(
        "the computation waits for iterations to be published: {} are unfinished, and storage is slower than the "
        "program writes (said once)",
        unfinished.limit());
  }
  return wait_for_room(is_room);
}

Result<Client::Iteration*> Client::open(int64_t iteration) {
  Result<Iteration*> of = begin(iteration);
  if (of.ok() && of.value()->dropped) {
    return Status(
        TAILRACE_DROPPED,
        "the iteration was dropped, since the memory budget was full, or too many iterations were unfinished");
  }
  return of;
}

Result<std::optional<PoolBlock>> Client::take_memory(uint64_t bytes, Iteration& iteration, bool may_pass) {
  if (auto block = allocate(bytes)) return block;
  if (bytes > pool_.size()) return too_large(bytes);
  switch (config_.memory.when_full) {
    case WhenFull::drop: {
      // A server that has died gives nothing back; if another has taken its place, there may be room.
      std::optional<PoolBlock> block;
      const Status looked = place_.wait([&] { return (block = allocate(bytes)).has_value(); }, Nanoseconds::zero());
      if (looked.ok()) return block;
      return looked.code() == TAILRACE_TIMEOUT ? drop(iteration, 0) : looked;
    }
    case WhenFull::sync:
      if (may_pass) return std::optional<PoolBlock>();
      return wait_for_memory(bytes);
    case WhenFull::block: return wait_for_memory(bytes);
  }
  TAILRACE_ASSERT(false);
}

Status Client::too_large(uint64_t bytes) const {
  return Status(TAILRACE_TOO_LARGE, fmt::format("a block of {} bytes can never fit into the memory budget of {} "
                                                "bytes; raise memory.budget",
                                                bytes, pool_.size()));
}

std::optional<PoolBlock> Client::allocate(uint64_t bytes) {
  reclaim();
  const auto block = pool_.allocate(bytes);
  if (block) sent_[block->index] = 0;
  return block;
}

// Whatever `when_full` says.
Result<std::optional<PoolBlock>> Client::memory_for(uint64_t bytes) {
  if (auto block = allocate(bytes)) return block;
  if (bytes > pool_.size()) return too_large(bytes);
  return wait_for_memory(bytes);
}

Result<std::optional<PoolBlock>> Client::wait_for_memory(uint64_t bytes) {
  if (!std::exchange(warned_of_waiting_, true)) {
    log_.info(
        "the computation waits for memory: all {} MiB of the budget are in use, and storage is slower than the "
        "program writes; a larger memory.budget would smooth bursts (said once)",
        pool_.size() >> 20);
  }
  std::optional<PoolBlock> block;
  const Status waited = wait_for_room([&] {
    block = allocate(bytes);
    if (block || pool_.held() == uncommitted_ + pool_.kept()) return true;
    tell_hunger();
    return false;
  });
  channel_.hungry.store(0, std::memory_order_relaxed);
  if (!waited.ok()) return waited;
  if (block) return block;
  return Status(TAILRACE_BUDGET_HELD,
                fmt::format("no room for {} bytes: of the budget's {} bytes, {} are allocated by the caller and not "
                            "committed (or held by its open files), {} are of committed blocks that it still keeps "
                            "(arrays from alloc that are alive), and nothing else will become free",
                            bytes, pool_.size(), uncommitted_, pool_.kept()));
}

// The server may keep blocks: it must know that they are waited for, and how much the client has seen come back. It
// may have given back more since, and rings then.
void Client::tell_hunger() {
  // release: what was collected is before; partner: the acquire in ChannelEnds::waits_for_memory().
  channel_.hungry.store(1 + pool_.collected(), std::memory_order_release);
  place_.ring();
}

// `unfinished`: so many are, which is the limit; 0: it is for want of memory.
Status Client::drop(Iteration& iteration, uint64_t unfinished) {
  iteration.dropped = true;
  counters_.blocks_dropped += iteration.blocks;
  ++counters_.iterations_dropped;
  Descriptor descriptor;
  descriptor.verb = Verb::drop_iteration;
  descriptor.iteration = iteration.number;
  descriptor.unfinished = unfinished;
  if (Status sent = send(descriptor); !sent.ok()) return sent;
  const std::string why = unfinished > 0 ? fmt::format("{} iterations are unfinished", unfinished)
                                         : fmt::format("the memory budget of {} bytes is full", pool_.size());
  return Status(TAILRACE_DROPPED, why + ": the whole iteration is dropped");
}

Status Client::write_through(uint32_t variable, Iteration& iteration, const void* data, Nanoseconds handed) {
  ++counters_.blocks_written_through;
  ++variables_[variable].blocks_written_through;
  const Result<uint64_t> ticket = place_.reaches_client() ? send_borrowed(variable, iteration, data, handed)
                                                          : send_copied(variable, iteration, data, handed);
  if (!ticket.ok()) return about(ticket.status(), "write", config_.variables[variable].name, iteration.number);
  end_handover(What::write, variable, iteration.number, handed, Nanoseconds::zero());
  return wait(ticket.value(), std::nullopt);
}

// Copies a block into the pool; returns when that was done. `start`: when the copying began, but for waiting.
Nanoseconds Client::copy_in(PoolBlock block, const void* data, uint64_t bytes, Nanoseconds start) {
  if (bytes > 0) stream_copy(channel_.memory.data() + block.offset, static_cast<const std::byte*>(data), bytes);
  const Nanoseconds copied = clock_.now();
  counters_.copying += copied - start;
  return copied;
}

// Borrows where the server sees only the pool: copies, and returns the ticket of the copy's write.
Result<uint64_t> Client::send_copied(uint32_t variable, Iteration& iteration, const void* data, Nanoseconds start) {
  const uint64_t bytes = bytes_of(variable);
  const Nanoseconds waited = counters_.waiting_memory;
  const auto block = memory_for(bytes);
  if (!block.ok()) return block.status();
  const Nanoseconds copied = copy_in(*block.value(), data, bytes, start + (counters_.waiting_memory - waited));
  const Result<uint64_t> ticket = open_ticket(variable);
  if (!ticket.ok()) return ticket;
  if (Status sent = send_block(variable, iteration, *block.value(), copied, ticket.value()); !sent.ok()) return sent;
  return ticket;
}

Status Client::send_block(uint32_t variable, Iteration& iteration, PoolBlock block, Nanoseconds handed,
                          uint64_t ticket) {
  Descriptor descriptor;
  descriptor.verb = Verb::write;
  descriptor.variable = variable;
  descriptor.iteration = iteration.number;
  descriptor.ticket = ticket;
  sent_[block.index] = sequence_ + 1;
  descriptor.bytes = {block.offset, bytes_of(variable), block.index, 0, handed.count()};
  if (Status sent = send(descriptor); !sent.ok()) return sent;
  count_accepted(variable, iteration);
  return {};
}

Result<uint64_t> Client::send_borrowed(uint32_t variable, Iteration& iteration, const void* data,
                                       Nanoseconds handed) {
  const Result<uint64_t> ticket = open_ticket(variable);
  if (!ticket.ok()) return ticket;
  Descriptor descriptor;
  descriptor.verb = Verb::borrow;
  descriptor.variable = variable;
  descriptor.iteration = iteration.number;
  descriptor.ticket = ticket.value();
  descriptor.bytes = {reinterpret_cast<uint64_t>(data), bytes_of(variable), kNoBlock, 0, handed.count()};
  if (Status sent = send(descriptor); !sent.ok()) return sent;
  count_accepted(variable, iteration);
  return ticket;
}

void Client::count_accepted(uint32_t variable, Iteration& iteration) {
  const uint64_t bytes = bytes_of(variable);
  ++iteration.blocks;
  ++counters_.blocks_accepted;
  counters_.bytes_accepted += bytes;
  ++variables_[variable].blocks_accepted;
  variables_[variable].bytes_accepted += bytes;
}

// Counts a block that was refused since its iteration is dropped.
void Client::count_dropped(uint32_t variable, const Status& why) {
  if (why.code() != TAILRACE_DROPPED) return;
  ++counters_.blocks_dropped;
  ++variables_[variable].blocks_refused;
}

// Ends a call that handed a block over: `before` it has been waiting or working for the same block already.
void Client::end_handover(What what, uint32_t variable, int64_t iteration, Nanoseconds start, Nanoseconds before) {
  const Nanoseconds end = clock_.now();
  variables_[variable].handover.add(count_of(end - start + before));
  note(what, variable, iteration, start, end);
}

void Client::note(What what, uint32_t variable, int64_t iteration, Nanoseconds start, Nanoseconds end) {
  if (!trace_.on()) return;
  const uint64_t bytes = variable == TraceEvent::kNone ? 0 : bytes_of(variable);
  trace_.add(
      {.what = what, .variable = variable, .iteration = iteration, .bytes = bytes, .start = start, .end = end});
}

// Takes back what a server that has died had done with and could not give back.
void Client::reclaim() {
  if (losses_ == place_.losses()) return;
  losses_ = place_.losses();
  // acquire: every server before this life has pushed its last block; partner: ChannelEnds::take_over(). In this
  // order, since the one of this life may die, and another begin, at any moment.
  const uint32_t life = channel_.life.load(std::memory_order_acquire);
  pool_.collect();
  for (uint32_t block = 0; block < sent_.size(); ++block) {
    if (sent_[block] == 0 || !pool_.holds(block)) continue;
    const uint64_t mark = channel_.ended[block].load(std::memory_order_acquire);
    const bool by_the_dead = EndedMark::is_earlier(mark, life);
    if (by_the_dead && !EndedMark::held(mark) && EndedMark::sequence(mark) == sent_[block]) {
      sent_[block] = 0;
      pool_.free({block, 0});
    }
  }
}

Status Client::send(Descriptor descriptor) {
  if (Status lost = place_.lost(); !lost.ok()) return lost;
  descriptor.sequence = ++sequence_;
  if (!channel_.ring.push(descriptor)) {
    if (Status room = wait_for_room([&] { return channel_.ring.push(descriptor); }); !room.ok()) return room;
  }
  place_.ring();
  return {};
}

// `variable`: what the ticket is of, or kNone.
Result<uint64_t> Client::open_ticket(uint32_t variable) {
  uint64_t ticket = channel_.tickets.open();
  if (ticket == kNoTicket) {
    const Status room = wait_for_room([&] { return (ticket = channel_.tickets.open()) != kNoTicket; });
    if (!room.ok()) return room;
  }
  ticket_variable_[ticket % ticket_variable_.size()] = variable;
  return ticket;
}

// Waits for the server to make room: for memory, in the ring, or for a ticket.
Status Client::wait_for_room(FunctionRef<bool()> ready) {
  const Nanoseconds start = clock_.now();
  Status status = place_.wait(ready, std::nullopt);
  const Nanoseconds end = clock_.now();
  counters_.waiting_memory += end - start;
  note(What::wait_memory, TraceEvent::kNone, -1, start, end);
  return status;
}

// Until the ticket has ended; fails as Place::wait does.
Status Client::wait_for(uint64_t ticket, std::optional<std::chrono::milliseconds> timeout) {
  if (timeout) timeout = std::min(*timeout, kForever);
  return place_.wait([&] { return channel_.tickets.look(ticket) != TicketState::pending; }, timeout);
}

// Why an ended ticket failed, or ok. Its failure counts as seen from now on.
Status Client::end_of(uint64_t ticket) {
  // No failure is logged after its ticket has ended, so without an untold one there is nothing to look for.
  if (channel_.failures.unseen() > 0) {
    if (auto entry = channel_.failures.take(ticket)) return std::move(entry->status);
  }
  if (channel_.tickets.look(ticket) != TicketState::failed) return {};
  return Status(TAILRACE_IO_ERROR, "wait: this request failed, and its failure has been told already");
}

uint64_t Client::bytes_of(uint32_t variable) const { return shapes_.of(variable)->bytes(); }

// `status` with the verb, variable and iteration that it is about.
Status Client::about(Status status, const char* verb, std::string_view variable, int64_t iteration) const {
  Fault fault = status.fault();
  const std::string of = variable.empty() ? "" : fmt::format(" '{}',", variable);
  fault.message = fmt::format("{}{} iteration {}: {}", verb, of, iteration, fault.message);
  fault.operation = verb;
  fault.variable = variable;
  fault.iteration = iteration;
  return Status(std::move(fault));
}

}  // namespace tailrace::impl
