#include "client/client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>

#include "base/names/counted.hpp"
#include "model/wire/attribute_wire.hpp"

namespace tailrace::impl {
namespace {

// Returns `status` with its verb, variable and iteration.
Status about(const Status& status, const char* verb, std::string_view variable, int64_t iteration) {
  Fault fault = status.fault();
  const std::string of = variable.empty() ? "" : fmt::format(" '{}',", variable);
  fault.message = fmt::format("{}{} iteration {}: {}", verb, of, iteration, fault.message);
  fault.operation = verb;
  fault.variable = variable;
  fault.iteration = iteration;
  return Status(std::move(fault));
}

constexpr size_t kMostTold = 32;  // most names of variables in a message

Status dropped() { return Status(TAILRACE_DROPPED, "the iteration was dropped"); }

}  // namespace

Client::Client(const Config& config, Place& place, const Clock& clock, Log& log, TraceLog& trace)
    : config_(config),
      index_(config.variables),
      failures_(place.channel().failures),
      shapes_(config, config.memory.budget),
      iterations_(config.variables.size()),
      meter_(clock, trace, shapes_, config.variables.size()),
      link_(place, meter_, config.storage.throttle.on()),
      memory_(place, link_, log),
      admission_(config.memory.when_full, place.channel().unfinished, iterations_, link_, memory_, meter_, log),
      blocks_(shapes_, link_, memory_, meter_),
      files_(config.storage, config.merge.read_after, link_, memory_, meter_, place.channel().files) {
  for (const Variable& variable : config.variables) enabled_.push_back(variable.enabled);
  if (trace.on()) files_.keep_names();
}

Status Client::write(std::string_view variable, int64_t iteration, const void* data) {
  const Nanoseconds start = meter_.now();
  const Nanoseconds waited = meter_.waited_for_room();
  const Result<uint32_t> index = find(variable);
  if (!index.ok()) return index.status();
  if (!enabled_[index.value()]) return {};
  const Result<Iteration*> of = admission_.open(iteration);
  if (!of.ok()) return refuse(of.status(), "write", index.value(), iteration);
  const uint64_t bytes = blocks_.bytes_of(index.value());
  const auto block = admission_.take_memory(bytes, *of.value(), true);
  if (!block.ok()) return refuse(block.status(), "write", index.value(), iteration);
  if (!block.value()) {  // written through, since the memory is full
    meter_.count_written_through(index.value());
    const Result<uint64_t> ticket = blocks_.borrow(index.value(), *of.value(), data, start);
    if (!ticket.ok()) return about(ticket.status(), "write", variable, iteration);
    meter_.end_handover(What::write, index.value(), iteration, start, Nanoseconds::zero());
    return wait(ticket.value(), std::nullopt);
  }
  const Nanoseconds copying = start + (meter_.waited_for_room() - waited);
  const Nanoseconds copied = blocks_.copy_in(*block.value(), data, bytes, copying);
  const Status sent = blocks_.send(index.value(), *of.value(), *block.value(), copied, kNoTicket);
  if (!sent.ok()) return sent;
  meter_.end_handover(What::write, index.value(), iteration, start, Nanoseconds::zero());
  return {};
}

// Returns the status of a call whose block is not accepted, and counts the block if its iteration is dropped.
Status Client::refuse(const Status& why, const char* verb, uint32_t variable, int64_t iteration) {
  meter_.count_if_dropped(variable, why);
  return about(why, verb, config_.variables[variable].name, iteration);
}

Result<void*> Client::alloc(std::string_view variable, int64_t iteration) {
  const Nanoseconds start = meter_.now();
  const Result<uint32_t> index = find(variable);
  if (!index.ok()) return index.status();
  const Result<Iteration*> of = admission_.open(iteration);
  if (!of.ok()) return refuse(of.status(), "alloc", index.value(), iteration);
  OpenIterations::Uncommitted& held = of.value()->uncommitted[index.value()];
  if (!held.held()) {
    const uint64_t bytes = blocks_.bytes_of(index.value());
    const auto block = admission_.take_memory(bytes, *of.value(), false);
    if (!block.ok()) return refuse(block.status(), "alloc", index.value(), iteration);
    const Nanoseconds end = meter_.now();
    held = {*block.value(), end - start};
    memory_.withhold(bytes);
    meter_.note(What::alloc, index.value(), iteration, start, end);
  }
  return static_cast<void*>(memory_.at(held.block));
}

Result<std::unique_ptr<Hold>> Client::keep(std::string_view variable, int64_t iteration) {
  const Result<uint32_t> index = find(variable);
  if (!index.ok()) return index.status();
  Iteration* const of = iterations_.find(iteration);
  TAILRACE_REQUIRE(of != nullptr && of->uncommitted[index.value()].held());
  auto hold = memory_.keep(of->uncommitted[index.value()].block);
  if (hold) return hold;
  return about(Status(TAILRACE_BUDGET_HELD, "found too many blocks that the program keeps; it must release some"),
               "alloc", variable, iteration);
}

Status Client::commit(std::string_view variable, int64_t iteration) {
  const Nanoseconds start = meter_.now();
  const Result<uint32_t> index = find(variable);
  if (!index.ok()) return index.status();
  Iteration* const of = iterations_.find(iteration);
  if (of == nullptr || iteration < 0 || !of->uncommitted[index.value()].held()) {
    return about(Status(TAILRACE_WRONG_ORDER, "found no block allocated for it; alloc must come before commit"),
                 "commit", variable, iteration);
  }
  const auto [block, spent] = std::exchange(of->uncommitted[index.value()], {});
  memory_.release(blocks_.bytes_of(index.value()));
  if (!enabled_[index.value()]) {
    memory_.free(block);
    return {};
  }
  if (of->dropped) {
    memory_.free(block);
    return refuse(dropped(), "commit", index.value(), iteration);
  }
  if (Status sent = blocks_.send(index.value(), *of, block, start, kNoTicket); !sent.ok()) return sent;
  meter_.end_handover(What::commit, index.value(), iteration, start, spent);
  return {};
}

Result<uint64_t> Client::borrow(std::string_view variable, int64_t iteration, const void* data) {
  const Nanoseconds start = meter_.now();
  const Result<uint32_t> index = find(variable);
  if (!index.ok()) return index.status();
  if (!enabled_[index.value()]) return kNoTicket;
  const Result<Iteration*> of = admission_.open(iteration);
  if (!of.ok()) return refuse(of.status(), "borrow", index.value(), iteration);
  const Result<uint64_t> ticket = blocks_.borrow(index.value(), *of.value(), data, start);
  if (!ticket.ok()) return refuse(ticket.status(), "borrow", index.value(), iteration);
  meter_.end_handover(What::borrow, index.value(), iteration, start, Nanoseconds::zero());
  return ticket;
}

// The time belongs to the iteration's file: without a block there may be none.
Status Client::send_times(int64_t iteration, std::optional<double> time, std::optional<double> dt) {
  const Iteration* const of = iterations_.find(iteration);
  if (of == nullptr || of->dropped || of->blocks == 0) return {};
  Status sent = time ? send_attribute(kNoVariable, iteration, kTimeAttribute, *time) : Status();
  if (sent.ok() && dt) sent = send_attribute(kNoVariable, iteration, kStepAttribute, *dt);
  return sent;
}

Status Client::end_iteration(int64_t iteration, std::optional<double> time, std::optional<double> dt) {
  const Nanoseconds start = meter_.traces() ? meter_.now() : Nanoseconds::zero();
  if (iteration < 0) {
    return Status(TAILRACE_INVALID_ARGUMENT,
                  fmt::format("end_iteration: found iteration {}, expected 0 or more", iteration));
  }
  if ((time && !std::isfinite(*time)) || (dt && !(std::isfinite(*dt) && *dt > 0))) {
    return about(Status(TAILRACE_INVALID_ARGUMENT,
                        fmt::format("found time {} and dt {}, expected a finite time and a dt greater than 0",
                                    time.value_or(0), dt.value_or(1))),
                 "end_iteration", {}, iteration);
  }
  if (iterations_.has_ended(iteration)) return {};
  const Result<Iteration*> of = find_to_end(iteration);
  if (!of.ok()) return of.status();
  if (Status sent = send_times(iteration, time, dt); !sent.ok()) {
    return about(sent, "end_iteration", {}, iteration);
  }
  const bool was_dropped = of.value() != nullptr && of.value()->dropped;
  if (of.value() != nullptr && !was_dropped) {
    Descriptor descriptor;
    descriptor.verb = Verb::end_iteration;
    descriptor.iteration = iteration;
    descriptor.waited = count_of(meter_.waited_for_room() - waited_before_);
    waited_before_ = meter_.waited_for_room();
    if (Status sent = link_.send(descriptor); !sent.ok()) return about(sent, "end_iteration", {}, iteration);
  }
  iterations_.end(iteration);
  ++meter_.counters().iterations_ended;
  if (meter_.traces()) meter_.note(What::end_iteration, TraceEvent::kNone, iteration, start, meter_.now());
  return was_dropped ? about(dropped(), "end_iteration", {}, iteration) : Status();
}

// Returns the iteration that is to end, with all its blocks committed; null if it has not begun, and need not.
Result<Client::Iteration*> Client::find_to_end(int64_t iteration) {
  Iteration* of = iterations_.find(iteration);
  if (of == nullptr && config_.storage.shares_files()) {  // other clients may write into its file, which waits for
                                                          // all to end it
    const Result<Iteration*> begun = admission_.begin(iteration);
    if (!begun.ok() && begun.status().code() != TAILRACE_DROPPED) {
      return about(begun.status(), "end_iteration", {}, iteration);
    }
    of = iterations_.find(iteration);
  }
  if (of == nullptr) return of;
  for (uint32_t variable = 0; variable < of->uncommitted.size(); ++variable) {
    if (!of->uncommitted[variable].held()) continue;
    return about(Status(TAILRACE_WRONG_ORDER, "found its block allocated but not committed; commit it first"),
                 "end_iteration", config_.variables[variable].name, iteration);
  }
  return of;
}

Status Client::signal(std::string_view event, int64_t iteration) {
  if (event.empty() || event.size() > kMaxEvent) {
    return Status(TAILRACE_INVALID_ARGUMENT,
                  fmt::format("signal: found an event name of {} bytes, expected 1 to {}", event.size(), kMaxEvent));
  }
  const Result<Iteration*> of = admission_.begin(iteration);
  if (!of.ok()) return about(of.status(), "signal", {}, iteration);
  ++meter_.counters().signals;
  if (of.value()->dropped) return about(dropped(), "signal", {}, iteration);
  Descriptor descriptor;
  descriptor.verb = Verb::signal;
  descriptor.iteration = iteration;
  std::memset(descriptor.event, 0, sizeof descriptor.event);
  std::memcpy(descriptor.event, event.data(), event.size());
  return link_.send(descriptor);
}

Status Client::attribute(std::optional<std::string_view> variable, int64_t iteration, std::string_view name,
                         const AttributeValue& value) {
  const std::string_view about_variable = variable.value_or("");
  uint32_t index = kNoVariable;
  if (variable) {
    const Result<uint32_t> found = find(*variable);
    if (!found.ok()) return found.status();
    index = found.value();
  }
  Status valid = check_attribute_name(variable ? AttributeOf::variable : AttributeOf::iteration, name);
  if (valid.ok()) valid = check_attribute_value(value);
  if (!valid.ok()) return about(valid, "attribute", about_variable, iteration);
  if (variable && !enabled_[index]) return {};
  const Result<Iteration*> of = admission_.begin(iteration);
  Status status = of.status();
  if (status.ok() && of.value()->dropped) status = dropped();
  if (status.ok()) status = send_attribute(index, iteration, name, value);
  return status.ok() ? status : about(status, "attribute", about_variable, iteration);
}

Status Client::send_attribute(uint32_t variable, int64_t iteration, std::string_view name,
                              const AttributeValue& value) {
  const std::vector<std::byte> bytes = to_bytes(name, value);
  if (bytes.size() > kMostAttributeBytes) {
    return Status(TAILRACE_TOO_LARGE, fmt::format("found an attribute '{}' of {} bytes, expected at most {}", name,
                                                  bytes.size(), kMostAttributeBytes));
  }
  Descriptor descriptor;
  descriptor.verb = Verb::attribute;
  descriptor.variable = variable;
  descriptor.iteration = iteration;
  for (uint32_t index = 0; index < attribute_parts(bytes.size()); ++index) {
    descriptor.part = attribute_part(bytes, index);
    if (Status sent = link_.send(descriptor); !sent.ok()) return sent;
  }
  return {};
}

Status Client::wait(uint64_t ticket, std::optional<std::chrono::milliseconds> timeout) {
  if (ticket == kNoTicket) return {};
  if (!link_.knows(ticket)) {
    return Status(TAILRACE_INVALID_ARGUMENT, fmt::format("wait: ticket {} is none of this client's", ticket));
  }
  if (link_.is_pending(ticket)) {
    const Nanoseconds start = meter_.now();
    const Status ended = link_.wait_for(ticket, timeout);
    meter_.end_wait(link_.variable_of(ticket), start);
    if (ended.code() == TAILRACE_TIMEOUT) {
      return Status(TAILRACE_TIMEOUT, "wait: the request has not ended yet: " + ended.fault().message);
    }
    if (!ended.ok()) return ended;
  }
  return link_.end_of(ticket);
}

Status Client::read(std::string_view variable, int64_t iteration, void* data) {
  const Nanoseconds start = meter_.now();
  const Nanoseconds waited = meter_.waited_for_room();
  const Result<uint32_t> index = find(variable);
  if (!index.ok()) return index.status();
  if (iteration < 0) {
    return about(Status(TAILRACE_INVALID_ARGUMENT, "expected iteration 0 or more"), "read", variable, iteration);
  }
  const Result<uint64_t> ticket = blocks_.read(index.value(), iteration, data, start);
  const Nanoseconds end = meter_.now();
  meter_.counters().waiting_ticket += end - start - (meter_.waited_for_room() - waited);
  meter_.counters(index.value()).waiting.add(count_of(end - start));
  meter_.note(What::read, index.value(), iteration, start, end);
  if (!ticket.ok()) return about(ticket.status(), "read", variable, iteration);
  return link_.end_of(ticket.value());
}

Status Client::flush() {
  if (config_.storage.durability == Durability::accepted) return {};
  return flush_all(What::flush);
}

Result<uint64_t> Client::iflush() { return link_.send_flush(Verb::flush); }

// Waits until every verb sent before has ended. Fails only if the place does; the failure log has the requests'
// failures.
Status Client::flush_all(What what) {
  const Nanoseconds start = meter_.now();
  const Nanoseconds waited = meter_.waited_for_room();
  const Result<uint64_t> ticket = link_.send_flush(what == What::close ? Verb::close : Verb::flush);
  Status status = ticket.status();
  if (ticket.ok()) status = link_.wait_for(ticket.value(), std::nullopt);
  memory_.reclaim();
  const Nanoseconds end = meter_.now();
  meter_.counters().waiting_ticket += end - start - (meter_.waited_for_room() - waited);
  meter_.note(what, TraceEvent::kNone, -1, start, end);
  return status;
}

void Client::finish() {
  if (Status flushed = flush_all(What::close); !flushed.ok()) failures_.add_own(std::move(flushed));
  for (const int64_t iteration : iterations_.numbers()) {
    const Iteration& of = *iterations_.find(iteration);
    if (of.dropped || of.blocks == 0) continue;
    failures_.add_own(
        about(Status(TAILRACE_NOT_PUBLISHED,
                     fmt::format("{} {} not published: end_iteration({}) was not called", counted(of.blocks, "block"),
                                 of.blocks == 1 ? "was" : "were", iteration)),
              "close", {}, iteration));
  }
  for (const auto& [path, how] : files_.unfinished()) {
    Fault fault;
    fault.code = TAILRACE_NOT_PUBLISHED;
    fault.operation = "file_close";
    fault.file = path;
    fault.message = fmt::format("'{}' {}, since it was not closed", path, how);
    failures_.add_own(Status(std::move(fault)));
  }
}

Result<uint32_t> Client::find(std::string_view variable) const {
  // Programs name a variable several times in a call, and mostly all in the order of the configuration.
  // relaxed: a guess, which is checked.
  const uint32_t last = last_found_.load(std::memory_order_relaxed);
  for (uint32_t guess = last; guess < config_.variables.size() && guess <= last + 1; ++guess) {
    if (config_.variables[guess].name != variable) continue;
    if (guess != last) last_found_.store(guess, std::memory_order_relaxed);
    return guess;
  }
  if (const auto index = index_.find(variable)) {
    last_found_.store(*index, std::memory_order_relaxed);
    return *index;
  }
  std::string declared;
  for (size_t i = 0; i < std::min(config_.variables.size(), kMostTold); ++i) {
    declared += (declared.empty() ? "" : ", ") + config_.variables[i].name;
  }
  if (config_.variables.size() > kMostTold)
    declared += fmt::format(" and {} more", config_.variables.size() - kMostTold);
  Fault fault;
  fault.code = TAILRACE_UNKNOWN_VARIABLE;
  fault.variable = variable;
  fault.message =
      fmt::format("variable '{}' is not declared in {}; declared are: {}", variable, config_.source, declared);
  return Status(std::move(fault));
}

std::optional<Status> Client::earlier() {
  if (failures_.unseen() == 0) return std::nullopt;
  auto entry = failures_.take_oldest();
  if (!entry) return std::nullopt;
  return std::move(entry->status);
}

uint64_t Client::unseen_failures() const { return failures_.unseen(); }

}  // namespace tailrace::impl
