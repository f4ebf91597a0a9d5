#include "server/server.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/memory/range_allocator.hpp"
#include "base/names/counted.hpp"
#include "base/sync/free_stack.hpp"
#include "model/extents.hpp"

namespace tailrace::impl {
namespace {

Status sent(const std::string& what) { return Status(TAILRACE_INVALID_ARGUMENT, "it sent " + what); }

bool belongs_to_iteration(Verb verb) { return verb != Verb::parameter && !is_flush(verb) && !is_of_file(verb); }

// A read may be of any iteration, at any time; some verbs belong to none.
bool begins_iteration(const Descriptor& descriptor) {
  return descriptor.verb != Verb::read && descriptor.iteration >= 0;
}

IterationRecord::Outcome outcome_of(const Departure& how) {
  using Outcome = IterationRecord::Outcome;
  if (how.dropped) return Outcome::dropped;
  if (!how.status.ok()) return Outcome::failed;
  return how.written ? Outcome::published : Outcome::empty;
}

// Returns ok if the client may set the attribute; end_iteration sets the time and the step.
Status check_attribute(const AttributeNote& note) {
  const auto& [name, value] = note.attribute;
  const bool times = !note.block && (name == kTimeAttribute || name == kStepAttribute);
  if (times && std::holds_alternative<double>(value)) return {};
  return check_attribute_name(note.block ? AttributeOf::variable : AttributeOf::iteration, name);
}

}  // namespace

Server::Server(const Config& config, int client, ClientEnds& to_client, Engine& engine, FileGroup& files,
               TraceLog& trace, FilterCrew* crew, bool shares_memory)
    : config_(config),
      client_(static_cast<uint32_t>(client)),
      to_client_(to_client),
      engine_(engine),
      files_(files),
      trace_(trace),
      crew_(crew),
      shares_memory_(shares_memory),
      layouts_(config, config.memory.budget, client),
      verbs_(config, to_client),
      meter_(to_client.iterations(), engine.clock(), crew != nullptr ? crew->worked() : Nanoseconds::zero()),
      file_meter_(to_client.files(), engine),
      blocks_(config, config.holds_writes(), client,
              {to_client, engine, files, layouts_, verbs_, meter_, trace, crew}) {
  TAILRACE_REQUIRE(to_client.variables().size() == config.variables.size());
  files_.clients().join(*this);
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
  raw_ = std::make_unique<RawFiles>(config_.storage, config_.merge.by_count, client_, to_client_, engine_, files,
                                    host, file_meter_);
}

// ---- checks of verbs ------------------------------------------------------------------------------------------

Status Server::check(const Descriptor& descriptor) const {
  if (is_of_file(descriptor.verb)) {
    if (descriptor.verb == Verb::file_borrow && !shares_memory_) return sent("bytes in memory that is its own");
    const Status valid = raw_->check(descriptor);
    return valid.ok() ? valid : sent(valid.fault().message);
  }
  if (belongs_to_iteration(descriptor.verb) && descriptor.iteration < 0) return sent("an iteration below 0");
  switch (descriptor.verb) {
    case Verb::flush:
    case Verb::close:
    case Verb::end_iteration:
    case Verb::drop_iteration: return {};
    case Verb::write:
    case Verb::borrow:
    case Verb::read: return check_block(descriptor);
    case Verb::parameter: {
      const Status valid = layouts_.check(descriptor);
      return valid.ok() ? valid : sent("a setting of a parameter: " + valid.fault().message);
    }
    case Verb::signal:
      if (descriptor.event[0] == '\0' || std::memchr(descriptor.event, '\0', sizeof descriptor.event) == nullptr) {
        return sent("an event without an end to its name");
      }
      return {};
    case Verb::attribute: {
      const bool known = descriptor.variable < config_.variables.size();
      if (!known && descriptor.variable != kNoVariable) return sent("an attribute of an unknown variable");
      const bool has_left = !files_.iterations().writable(descriptor.iteration).ok();
      const Status valid = attribute_.check(descriptor, has_left);
      return valid.ok() ? valid : sent(valid.fault().message);
    }
    default: return sent("an unknown verb");
  }
}

Status Server::check_block(const Descriptor& descriptor) const {
  if (descriptor.variable >= config_.variables.size()) return sent("an unknown variable");
  const Descriptor::Bytes& bytes = descriptor.bytes;
  if (bytes.length != layouts_.shapes().of(descriptor.variable)->bytes()) return sent("a block of another length");
  const bool outside = descriptor.verb == Verb::borrow || bytes.block == kNoBlock;
  if (outside) return shares_memory_ ? Status() : sent("a block in memory that is its own");
  const uint64_t pool = to_client_.memory().size();
  if (bytes.address > pool || bytes.length > pool - bytes.address) return sent("a block outside its pool");
  if (bytes.address % RangeAllocator::kGrain != 0) return sent("a block that is not aligned");
  if (bytes.block >= to_client_.blocks()) return sent("a block of an impossible number");
  return {};
}

// ---- verbs ----------------------------------------------------------------------------------------------------

void Server::accept(const Descriptor& descriptor) {
  if (is_flush(descriptor.verb)) {
    verbs_.add_flush(descriptor);
    return;
  }
  if (begins_iteration(descriptor)) meter_.begin(descriptor.iteration);
  if (descriptor.verb == Verb::write || descriptor.verb == Verb::borrow) {
    meter_.took(descriptor.iteration, descriptor.bytes.length);
  }
  if (descriptor.verb == Verb::end_iteration) {
    engine_.ended_iteration(client_, Nanoseconds(static_cast<int64_t>(descriptor.waited)));
  }
  begin(descriptor);
}

void Server::begin(const Descriptor& descriptor) {
  verbs_.begin(descriptor);
  switch (descriptor.verb) {
    case Verb::write:
    case Verb::borrow: return blocks_.begin_write(descriptor);
    case Verb::read: return blocks_.begin_read(descriptor);
    case Verb::end_iteration: return end_iteration(descriptor);
    case Verb::drop_iteration: return drop_iteration(descriptor);
    case Verb::signal: return note_event(descriptor);
    case Verb::attribute: return add_attribute(descriptor);
    case Verb::parameter: return verbs_.end(descriptor, layouts_.set(descriptor));
    case Verb::file_write:
    case Verb::file_write_at: pending_file_bytes_ += descriptor.block_bytes(); return raw_->begin(descriptor);
    case Verb::file_open:
    case Verb::file_read:
    case Verb::file_sync:
    case Verb::file_size:
    case Verb::file_truncate:
    case Verb::file_allocate:
    case Verb::file_remove:
    case Verb::file_borrow:
    case Verb::file_close: return raw_->begin(descriptor);
    case Verb::flush:
    case Verb::close: break;
  }
  TAILRACE_ASSERT(false);
}

void Server::file_verb_ended(const Descriptor& descriptor, const Status& status) {
  verbs_.end(descriptor, status);
  if (!gives_file_block(descriptor.verb)) return;
  if (writes_file(descriptor.verb)) pending_file_bytes_ -= descriptor.block_bytes();
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

bool Server::begin_more() { return blocks_.progress() || files_.progress() || (raw_ && raw_->progress()); }

void Server::report(const Engine::Counts& counts) {
  const bool filtering = crew_ != nullptr && crew_->working();
  meter_.look({engine_.moving(), filtering, crew_ != nullptr ? crew_->worked() : Nanoseconds::zero()});
  // A client that has waited for a flush sees the counts of everything before it: they are copied before the flush is
  // answered.
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
  answer_flushes();
  to_client_.wake_if_memory_came();
}

void Server::end_iteration(const Descriptor& descriptor) {
  meter_.end(descriptor.iteration, Nanoseconds(static_cast<int64_t>(descriptor.waited)));
  if (!ends_.emplace(descriptor.iteration, descriptor).second) return end_twice(descriptor);
  // If other clients must also end the iteration, this client's part is done: its flushes must not wait for them.
  const bool actions_wait = actions_ != nullptr && actions_->ending(client(), descriptor.iteration);
  if (!files_.end(*this, descriptor.iteration) || actions_wait) verbs_.end_unseen(descriptor);
}

void Server::drop_iteration(const Descriptor& descriptor) {
  meter_.end(descriptor.iteration, Nanoseconds::zero());
  if (!ends_.emplace(descriptor.iteration, descriptor).second) return end_twice(descriptor);
  if (actions_ != nullptr) actions_->dropping(client(), descriptor.iteration);
  files_.drop(*this, descriptor.iteration,
              descriptor.unfinished > 0
                  ? fmt::format("{} {} unfinished", counted(descriptor.unfinished, "iteration"),
                                descriptor.unfinished == 1 ? "was" : "were")
                  : fmt::format("the memory budget of {} bytes was full", config_.memory.budget));
  blocks_.give_up(descriptor.iteration);
}

// No client of ours does so, but one with corrupt memory may.
void Server::end_twice(const Descriptor& descriptor) {
  verbs_.end(descriptor, Status(TAILRACE_WRONG_ORDER, "the iteration has been ended or dropped before"));
}

void Server::note_event(const Descriptor& descriptor) {
  const Status writable = files_.iterations().writable(descriptor.iteration);
  const Status status = writable.ok() ? files_.note_event(descriptor.iteration, descriptor.event) : writable;
  if (actions_ != nullptr && writable.ok()) actions_->raised(client(), descriptor.event, descriptor.iteration);
  verbs_.end(descriptor, status);
}

// The last part has the whole attribute. The client has checked it, but may be corrupt, or die before the last part:
// the iteration begins with any part. If another client has dropped it, an earlier server may have forgotten the
// first parts.
void Server::add_attribute(const Descriptor& descriptor) {
  const Status writable = files_.iterations().writable(descriptor.iteration);
  if (writable.ok()) files_.iterations().begin(descriptor.iteration);
  if (!attribute_.add(descriptor)) return verbs_.end(descriptor, {});
  AttributeNote note{descriptor.iteration, client(), {}, {}};
  if (descriptor.variable != kNoVariable) note.block = layouts_.block_of(descriptor);
  Status status = writable;
  Result<Attribute> attribute = attribute_.take();
  if (status.ok()) status = attribute.status();
  if (status.ok()) {
    note.attribute = std::move(attribute).value();
    status = impl::check_attribute(note);
  }
  if (status.ok()) status = files_.note_attribute(note);
  verbs_.end(descriptor, status);
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
  verbs_.end(node.mapped(), how.status);
  to_client_.give_room(iteration);
  if (actions_ != nullptr) actions_->left(client(), iteration);
  blocks_.left(iteration);
}

void Server::gone(int64_t iteration) { blocks_.left(iteration); }

void Server::accept_again(const Descriptor& descriptor) {
  if (is_of_file(descriptor.verb)) return accept_file_again(descriptor);
  if (descriptor.verb == Verb::write && blocks_.accept_again(descriptor)) return;
  const bool answered = descriptor.ticket != kNoTicket && !to_client_.is_pending(descriptor.ticket);
  if (answered && (descriptor.verb == Verb::read || is_flush(descriptor.verb))) return;
  if (is_flush(descriptor.verb)) return accept(descriptor);
  // The meter counts a verb when it comes. Only for the very last verb it is unknown whether the earlier server has
  // counted it.
  if (begins_iteration(descriptor)) meter_.begin(descriptor.iteration);
  begin(descriptor);
}

void Server::accept_file_again(const Descriptor& descriptor) {
  const bool open = descriptor.verb == Verb::file_open;
  const bool gives = gives_file_block(descriptor.verb);
  if ((open || gives) && blocks_.has_ended(descriptor)) return;  // a file that is closed, or could not be opened
  const bool pending = to_client_.is_pending(descriptor.ticket);
  if (descriptor.verb == Verb::file_remove && pending) {
    verbs_.begin(descriptor);
    return raw_->remove_again(descriptor);
  }
  if (gives || pending) return begin(descriptor);
  if (open) raw_->open_again(descriptor);
}

void Server::end_again() {
  blocks_.end_again();
  // No client will ask again for the blocks that the earlier server held for iterations that it had published.
  for (uint32_t block = 0; block < to_client_.blocks(); ++block) {
    const ClientEnds::BlockEnd end = to_client_.end_of(block);
    const bool wanted = actions_ != nullptr && actions_->holds(client(), end.sequence);
    if (end.kept && !wanted) to_client_.give_back(block, end.sequence);
  }
}

// A client waits for more than single requests (which are `immediate` themselves), or soon will: for a flush, a read,
// memory, or iterations to leave.
Urgency Server::urgency() const {
  const bool is_short_of_iterations = 2 * ends_.size() > to_client_.iteration_limit();
  if (is_short_of_memory()) return Urgency::crowded;
  const bool waits =
      verbs_.has_flushes() || blocks_.is_reading() || is_short_of_iterations || (raw_ && raw_->is_waited_for());
  if (waits) return Urgency::waiting;
  return to_client_.sleeps() ? Urgency::sleeping : Urgency::none;
}

bool Server::is_short_of_memory() const {
  return 2 * (blocks_.pending_bytes() + pending_file_bytes_) > to_client_.memory().size() ||
         to_client_.waits_for_memory();
}

bool Server::hungry() const {
  return blocks_.idle() && to_client_.has_sent_no_more() && to_client_.waits_for_memory();
}

void Server::answer_flushes() {
  const bool closes = is_closing();
  const uint32_t awaited = closes && !ends_.empty() ? files_.clients().yet_to_come() : 0;
  to_client_.set_awaited(awaited);
  const auto is_being_published = [this](const auto& end) { return files_.iterations().publishing(end.first); };
  if (closes && (awaited > 0 || std::any_of(ends_.begin(), ends_.end(), is_being_published))) return;
  if (files_.completing()) return;  // a flush includes what an earlier server published
  verbs_.answer_flushes([this] { file_meter_.look_at_iterations(); });
}

}  // namespace tailrace::impl
