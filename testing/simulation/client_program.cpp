#include "testing/simulation/client_program.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

#include "format/file_name.hpp"
#include "format/plan/stored_as.hpp"
#include "testing/simulation/array_plan.hpp"

namespace tailrace::impl::simulation {
namespace {

enum Verbs : uint64_t { kWrite, kAlloc, kCommit, kBorrow, kWait, kSignal, kEnd, kRead, kFlush, kVerbs };

// Marks memory that belongs to the application again.
constexpr std::byte kScribble{0xee};

}  // namespace

ClientProgram::ClientProgram(World& world, Application& process, const Faults& faults,
                             std::vector<ClientModel>& models, RawFileModels& raw_files, uint64_t seed,
                             uint64_t operations)
    : world_(world),
      process_(process),
      faults_(faults),
      models_(models),
      model_(models[static_cast<size_t>(process.number())]),
      config_(process.plan().config),
      plan_(process.plan()),
      of_node_(config_.storage.file_per == FilePer::node),
      owner_(owner_of_files(config_, process.number())),
      client_(process.client()),
      dice_(seed, "program", static_cast<uint64_t>(process.number())),
      change_dice_(seed, "lengths", static_cast<uint64_t>(process.number())),
      attribute_dice_(seed, "attributes", static_cast<uint64_t>(process.number())),
      grids_move_(grids_move(config_)),
      operations_(std::min(operations, plan_.operations)),
      contents_(dice_.next() >> 40 << 16),
      raw_files_(world, process, faults, raw_files, seed, static_cast<RawFileProgram::Caller&>(*this)) {
  const std::vector<uint64_t> usual = {30, 12, 14, 14, 8, 3, 14, 12, 3};
  for (const uint64_t weight : usual) weights_.push_back(weight * dice_.one_of<uint64_t>({0, 1, 1, 1, 2, 6}));
  weights_[kEnd] = std::max<uint64_t>(weights_[kEnd], 3);
  for (const Layout& layout : config_.layouts) lengths_.push_back(layout.shape[0]);
  next_iteration_ = plan_.first_iteration;
  model_.drops = config_.memory.when_full == WhenFull::drop;
  for (uint64_t i = 0; i < plan_.iterations; ++i) window_.push_back(next_iteration_++);
}

void ClientProgram::run() {
  for (uint64_t operation = 0; operation < operations_; ++operation) {
    arm_death(operation);
    if (plan_.changes && change_dice_.chance(20)) change_lengths();
    step();
    raw_files_.step();
    if (dice_.chance(80)) take_earlier();
    check_memory();
  }
  arm_death(operations_);
  close();
}

// If the program is shorter than planned, it dies in its last call, if at all.
void ClientProgram::arm_death(uint64_t operation) {
  if (!plan_.death || std::min(plan_.death->operation, operations_) != operation) return;
  world_.after(Nanoseconds(plan_.death->delay), [this] { process_.die(plan_.death->power); });
}

void ClientProgram::step() {
  const int64_t number = some_iteration();
  const auto variable = static_cast<uint32_t>(dice_.below(config_.variables.size()));
  uint64_t drawn = dice_.below(std::accumulate(weights_.begin(), weights_.end(), uint64_t{0}));
  uint64_t verb = 0;
  while (drawn >= weights_[verb]) drawn -= weights_[verb++];
  if (verb == kRead && dice_.chance(25)) {  // any iteration that was ever written
    auto of = model_.iterations.begin();
    std::advance(of, dice_.below(std::max<size_t>(1, model_.iterations.size())));
    if (of != model_.iterations.end()) return read(of->first, of->second, variable);
  }
  IterationModel& iteration = model_.iterations[number];
  if (verb == kRead) return read(number, iteration, variable);
  if (verb == kFlush) return flush();
  if (verb == kWait) return wait_for_some();
  if (iteration.ended) {
    const Lent nothing = lend(bytes_of(variable));
    const Status status = client_.write(name_of(variable), number, nothing.data);
    returned("write", number, name_of(variable), status);
    return check(status.code() == TAILRACE_WRONG_ORDER, "answer", "a write into an ended iteration was not refused");
  }
  switch (verb) {
    case kWrite: return write(number, iteration, variable);
    case kAlloc: return alloc(number, iteration, variable);
    case kCommit: return commit(number, iteration, variable);
    case kBorrow: return borrow(number, iteration, variable);
    case kSignal: return signal(number, iteration);
    default: return end(number, iteration);
  }
}

// Returns one of a few; one that has ended is usually replaced by the next.
int64_t ClientProgram::some_iteration() {
  int64_t& number = window_[dice_.below(window_.size())];
  if (model_.iterations[number].ended && dice_.chance(92)) number = next_iteration_++;
  return number;
}

void ClientProgram::write(int64_t number, IterationModel& iteration, uint32_t variable) {
  if (!may_come(number, iteration, variable)) return;
  writing_ = lend(bytes_of(variable));
  const Lent& lent = writing_;
  const Content content = new_content();
  fill(lent.data, lent.bytes, content);
  const uint64_t through = client_.counters().blocks_written_through;
  may_accept(iteration, variable, content);
  const Status status = client_.write(name_of(variable), number, lent.data);
  std::fill_n(lent.data, lent.bytes, kScribble);
  returned("write", number, name_of(variable), status);
  if (refused(iteration, status)) return;
  note_end_of(status);
  const bool passed = client_.counters().blocks_written_through == through + 1;
  check(status.ok() || passed, "answer", "a write that was copied failed");
  check(!passed || config_.memory.when_full == WhenFull::sync, "answer", "a write went through the memory budget");
  accept(iteration, variable, content);
}

void ClientProgram::alloc(int64_t number, IterationModel& iteration, uint32_t variable) {
  if (!may_come(number, iteration, variable)) return;
  iteration.next = iteration.now;
  const Result<void*> memory = client_.alloc(name_of(variable), number);
  returned("alloc", number, name_of(variable), memory.status());
  if (refused(iteration, memory.status())) return;
  iteration.next.reset();
  if (!memory.ok()) fail("answer", "alloc: " + memory.status().fault().message);
  auto* const data = static_cast<std::byte*>(memory.value());
  const std::span<std::byte> pool = process_.client_channel().memory;
  const uint64_t bytes = bytes_of(variable);
  check(data >= pool.data() && data + bytes <= pool.data() + pool.size(), "memory", "alloc gave memory outside");
  const uint64_t alignment = bytes >= RangeAllocator::kPage ? RangeAllocator::kPage : RangeAllocator::kGrain;
  check(reinterpret_cast<uintptr_t>(data) % alignment == 0, "memory", "alloc gave misaligned memory");
  const auto held = iteration.uncommitted.find(variable);
  if (held != iteration.uncommitted.end()) {
    return check(held->second.second == data, "answer", "a second alloc gave other memory");
  }
  const Content content = new_content();
  fill(data, bytes, content);
  iteration.uncommitted[variable] = {content, data};
}

void ClientProgram::commit(int64_t number, IterationModel& iteration, uint32_t variable) {
  // Usually one that was allocated.
  if (!iteration.uncommitted.empty() && dice_.chance(90)) variable = iteration.uncommitted.begin()->first;
  const auto held = iteration.uncommitted.find(variable);
  if (held != iteration.uncommitted.end()) may_accept(iteration, variable, held->second.first);
  const Status status = client_.commit(name_of(variable), number);
  returned("commit", number, name_of(variable), status);
  if (held == iteration.uncommitted.end()) {
    return check(status.code() == TAILRACE_WRONG_ORDER, "answer", "a commit without an alloc was not refused");
  }
  const Content content = held->second.first;
  iteration.uncommitted.erase(held);
  if (refused(iteration, status)) return;
  if (!status.ok()) fail("answer", "commit: " + status.fault().message);
  accept(iteration, variable, content);
}

void ClientProgram::borrow(int64_t number, IterationModel& iteration, uint32_t variable) {
  if (!may_come(number, iteration, variable)) return;
  lent_.push_back(lend(bytes_of(variable)));
  Lent& lent = lent_.back();
  const Content content = new_content();
  fill(lent.data, lent.bytes, content);
  may_accept(iteration, variable, content);
  const Result<uint64_t> ticket = client_.borrow(name_of(variable), number, lent.data);
  returned("borrow", number, name_of(variable), ticket.status());
  if (refused(iteration, ticket.status())) {
    lent.ended = true;
    return;
  }
  if (!ticket.ok()) fail("answer", "borrow: " + ticket.status().fault().message);
  lent.ticket = ticket.value();
  accept(iteration, variable, content);
  if (dice_.chance(25)) wait_for(lent);
}

void ClientProgram::wait_for_some() {
  if (lent_.empty()) return;
  wait_for(lent_[dice_.below(lent_.size())]);
}

void ClientProgram::wait_for(Lent& lent) {
  std::optional<std::chrono::milliseconds> timeout;
  if (dice_.chance(60)) timeout = std::chrono::milliseconds(dice_.below(3));
  const Nanoseconds start = world_.time();
  const Status status = client_.wait(lent.ticket, timeout);
  returned("wait", -1, "", status);
  if (status.code() == TAILRACE_TIMEOUT) {
    check(timeout.has_value(), "answer", "a wait for ever timed out");
    check(world_.time() - start >= *timeout, "answer", "a wait timed out before its time");
    return check(!lent.ended, "answer", "a ticket that had ended is pending again");
  }
  note_end_of(status);
  if (!std::exchange(lent.ended, true)) std::fill_n(lent.data, lent.bytes, kScribble);
}

// Changes the lengths of some arrays, all at once.
void ClientProgram::change_lengths() {
  std::vector<uint64_t> lengths = lengths_;
  std::vector<std::pair<std::string_view, Number>> values;
  for (uint32_t variable = 0; variable < lengths.size(); ++variable) {
    if (change_dice_.chance(50)) continue;
    if (leader_of(config_, variable) != static_cast<int32_t>(variable)) continue;
    lengths[variable] = change_dice_.between(1, config_.layouts[variable].shape[0]);
    values.emplace_back(config_.parameters[variable].name, static_cast<int64_t>(lengths[variable]));
  }
  for (uint32_t variable = 0; variable < lengths.size(); ++variable) {
    const int32_t leader = leader_of(config_, variable);
    if (leader >= 0) lengths[variable] = lengths[static_cast<size_t>(leader)];
  }
  const tailrace_status expected = expected_of(lengths);
  const Status status = client_.set_parameters(values);
  returned("set_parameters", -1, "", status);
  if (status.code() != expected) fail("answer", "set_parameters: " + (status.ok() ? "ok" : status.fault().message));
  if (status.ok()) lengths_ = lengths;
}

tailrace_status ClientProgram::expected_of(const std::vector<uint64_t>& lengths) const {
  tailrace_status expected = TAILRACE_OK;
  for (uint32_t variable = 0; variable < lengths.size(); ++variable) {
    if (lengths[variable] == lengths_[variable]) continue;
    if (bytes_of(variable, lengths[variable]) > config_.memory.budget) return TAILRACE_TOO_LARGE;
    const bool held = std::any_of(model_.iterations.begin(), model_.iterations.end(),
                                  [&](const auto& of) { return of.second.uncommitted.contains(variable); });
    if (held) expected = TAILRACE_WRONG_ORDER;
  }
  return expected;
}

// Moves the grids to where they are in that iteration. Returns false if blocks that are uncommitted hold them.
bool ClientProgram::move_grids(int64_t number) {
  if (!grids_move_ || grids_at_ == number) return true;
  bool held = false;
  for (const auto& [other, iteration] : model_.iterations) {
    for (const auto& [variable, block] : iteration.uncommitted) {
      held = held || !config_.layouts[variable].sources.origin.empty();
    }
  }
  const std::pair<std::string_view, Number> origin = {kOriginParameter, origin_of(number)};
  const Status status = client_.set_parameters({&origin, 1});
  returned("set_parameters", number, "", status);
  if (status.code() != (held ? TAILRACE_WRONG_ORDER : TAILRACE_OK)) {
    fail("answer", "set_parameters of an origin: " + (status.ok() ? "ok" : status.fault().message));
  }
  if (status.ok()) grids_at_ = number;
  return status.ok();
}

bool ClientProgram::may_come(int64_t number, const IterationModel& iteration, uint32_t variable) {
  if (!move_grids(number)) return false;
  const auto before = iteration.now.sizes.find(variable);
  return before == iteration.now.sizes.end() || before->second == bytes_of(variable);
}

void ClientProgram::signal(int64_t number, IterationModel& iteration) {
  const std::string event = event_of(process_.number(), dice_.below(100));
  if (attribute_dice_.chance(50)) return set_attribute(number, iteration);
  iteration.next = iteration.now;
  iteration.next->events.push_back(event);
  const Status status = client_.signal(event, number);
  returned("signal", number, event.c_str(), status);
  if (refused(iteration, status)) return;
  if (!status.ok()) fail("answer", "signal: " + status.fault().message);
  iteration.now = *std::exchange(iteration.next, std::nullopt);
}

void ClientProgram::set_attribute(int64_t number, IterationModel& iteration) {
  const std::string name = attribute_of(process_.number(), attribute_dice_.below(kAttributes));
  const uint64_t value = attribute_dice_.below(1000);
  iteration.next = iteration.now;
  iteration.next->attributes[name] = value;
  const Status status = client_.attribute({}, number, name, static_cast<int64_t>(value));
  returned("attribute", number, name.c_str(), status);
  if (refused(iteration, status)) return;
  if (!status.ok()) fail("answer", "attribute: " + status.fault().message);
  iteration.now = *std::exchange(iteration.next, std::nullopt);
}

void ClientProgram::end(int64_t number, IterationModel& iteration) {
  while (!iteration.uncommitted.empty() && dice_.chance(95)) {
    commit(number, iteration, iteration.uncommitted.begin()->first);
  }
  iteration.ending = iteration.uncommitted.empty();
  const Status status = client_.end_iteration(number, time_of(number));
  returned("end_iteration", number, "", status);
  if (!iteration.uncommitted.empty()) {
    return check(status.code() == TAILRACE_WRONG_ORDER, "answer", "an end with a block uncommitted was not refused");
  }
  iteration.ended = true;
  if (!refused(iteration, status) && !status.ok()) fail("answer", "end_iteration: " + status.fault().message);
}

void ClientProgram::read(int64_t number, IterationModel& iteration, uint32_t variable) {
  reading_ = lend(bytes_of(variable));
  std::fill_n(reading_.data, reading_.bytes, kScribble);
  const Status status = client_.read(name_of(variable), number, reading_.data);
  returned("read", number, name_of(variable), status);
  check_read(number, iteration, variable, status, reading_.data);
}

void ClientProgram::check_read(int64_t number, IterationModel& iteration, uint32_t variable, const Status& status,
                               const std::byte* data) {
  const bool no_memory = status.code() == TAILRACE_BUDGET_HELD || status.code() == TAILRACE_TOO_LARGE;
  if (no_memory) return check_refusal(status);  // where reads use the pool
  if (!status.ok()) ++told_;
  if (iteration.dropped) return check(!status.ok(), "read", "a block of a dropped iteration was read");
  if (iteration.unknown) return;
  const auto accepted = iteration.now.blocks.find(variable);
  std::optional<Content> expected;
  uint64_t size = 0;
  if (accepted != iteration.now.blocks.end()) {
    expected = accepted->second;
    size = iteration.now.sizes.at(variable);
  } else if (!iteration.touched() && iteration.before && iteration.before->blocks.contains(variable)) {
    expected = iteration.before->blocks.at(variable);
    size = iteration.before->sizes.at(variable);
  }
  const std::string of = fmt::format("'{}' of iteration {}", name_of(variable), number);
  if (!status.ok()) {
    const Fault& fault = status.fault();
    if (fault.code == TAILRACE_NOT_FOUND) {
      const bool of_before = expected && accepted == iteration.now.blocks.end();
      if (expected && size != bytes_of(variable) && is_part(variable)) return;  // there is no block of this length
      if (of_before && !others_touch(number)) fail("read", of + ", published earlier, is not found");
      if (expected && !of_before) iteration.block_was_missing = true;
      return;
    }
    if (fault.code == TAILRACE_WRONG_SHAPE) {
      return check(expected && size != bytes_of(variable), "read", "a block of this very shape has another one");
    }
    return check_cause(fault, iteration);
  }
  if (!expected) fail("read", of + " was read, but nobody wrote it");
  if (size != bytes_of(variable)) fail("read", of + " was read with another length than it has");
  if (const auto at = first_difference(data, bytes_of(variable), *expected)) {
    fail("read", fmt::format("{}: byte {} is not what was written", of, *at));
  }
}

void ClientProgram::flush() {
  const Status status = client_.flush();
  returned("flush", -1, "", status);
  check(status.ok(), "answer", "a flush failed");
  take_earlier();
  if (config_.storage.durability == Durability::accepted) return;
  raw_files_.all_ended();
  acknowledge(false);
}

// Notes that everything that has ended now has the promised durability.
void ClientProgram::acknowledge(bool closing) {
  for (auto& [number, iteration] : model_.iterations) {
    if (!iteration.ended || iteration.dropped || iteration.failed || iteration.now.empty()) continue;
    iteration.acknowledged = true;
    iteration.durable = config_.storage.durability == Durability::durable;
  }
  for (Lent& lent : lent_) {
    if (closing || !lent.ended) std::fill_n(lent.data, lent.bytes, kScribble);
    lent.ended = true;
  }
}

void ClientProgram::close() {
  for (auto& [number, iteration] : model_.iterations) {
    while (!iteration.uncommitted.empty() && dice_.chance(95)) {
      commit(number, iteration, iteration.uncommitted.begin()->first);
    }
    const bool open = !iteration.ended && !iteration.now.empty() && iteration.uncommitted.empty();
    if (open && dice_.chance(85)) end(number, iteration);
  }
  raw_files_.close();
  client_.finish();
  returned("close", -1, "", {});
  take_earlier();
  raw_files_.all_ended();
  // A client that has closed is not told how an iteration ends that others have not ended yet.
  if (of_node_) check_told();
  acknowledge(true);
  process_.closed();
}

void ClientProgram::returned(const char* verb, int64_t number, const char* variable, const Status& status) {
  if (world_.story().aloud()) {
    world_.story().tell("client {}: {}({}{}{}) → {}", process_.number(), verb,
                        number < 0 ? "" : std::to_string(number), *variable != 0 ? ", " : "", variable,
                        status.ok() ? "ok" : status.fault().message);
  }
  end_verb(status);
}

void ClientProgram::returned(const char* verb, const std::string& of, const Status& status) {
  world_.story().tell("client {}: {}({}) → {}", process_.number(), verb, of,
                      status.ok() ? "ok" : status.fault().message);
  end_verb(status);
}

void ClientProgram::end_verb(const Status& status) {
  world_.end_if_killed();
  if (status.code() == TAILRACE_SERVER_LOST) throw ServerLost();
  world_.story().mix(static_cast<uint64_t>(status.code()));
  world_.choose();
  world_.end_if_killed();
}

void ClientProgram::take_earlier() {
  while (const std::optional<Status> status = client_.earlier()) {
    world_.story().tell("client {}: is told: {}", process_.number(), status->fault().message);
    note(status->fault());
  }
}

// It may have died while a failure was being reported, so anything that could fail may have failed.
void ClientProgram::hear_the_rest(bool abandoned) {
  while (const std::optional<Status> status = client_.earlier()) {
    if (status->fault().operation == "file_write") raw_files_.note(status->fault());
  }
  const bool untold = process_.client_channel().failures.total() > 0;
  raw_files_.died(!abandoned, untold);
  if (!untold && !abandoned) return;
  for (auto& [number, iteration] : model_.iterations) {
    const std::string file = file_name_of(config_, process_.number(), number);
    for (const Cause& cause : faults_.causes) {
      if (cause.path.find(file) != std::string::npos || cause.is_of_all_iterations()) iteration.failed = true;
    }
    if (!abandoned || iteration.acknowledged) continue;
    iteration.absent = true;
    iteration.ended = false;
  }
}

// Notes the failure of an accepted request that was reported.
void ClientProgram::note(const Fault& fault) {
  if (fault.code == TAILRACE_SERVER_LOST) throw ServerLost();
  ++told_;
  check(!fault.message.empty(), "telling", "a failure without a message");
  if (RawFileProgram::is_about(fault)) return raw_files_.note(fault);
  if (fault.code == TAILRACE_CLIENTS_MISSING) {
    return check(plan_.others_wait || of_node_, "telling", "a client is said to be missing that is not");
  }
  const auto found = model_.iterations.find(fault.iteration);
  if (found == model_.iterations.end()) fail("telling", "a failure of no iteration: " + fault.message);
  IterationModel& iteration = found->second;
  if (fault.operation == "close") {
    check(!iteration.ended && !iteration.now.blocks.empty(), "telling", "an ended iteration is told to be left open");
    return;
  }
  if (fault.operation != "read") iteration.failed = true;
  check_cause(fault, iteration);
}

// Checks that a failure has a cause: a fault of a file of this iteration, with this errno.
void ClientProgram::check_cause(const Fault& fault, const IterationModel& iteration) {
  if (fault.code == TAILRACE_DROPPED && others_may_drop(fault.iteration)) return;
  const bool kept = plan_.others_wait && config_.place.on_missing == OnMissing::keep;
  if (fault.code == TAILRACE_NOT_PUBLISHED && kept) return;
  const std::string file = file_name_of(config_, process_.number(), fault.iteration);
  const bool dropped = iteration.dropped || others_may_drop(fault.iteration);
  const bool durable = config_.storage.durability == Durability::durable;
  for (const Cause& cause : faults_.causes) {
    if (fault.system_errno != 0 && cause.error != fault.system_errno) continue;
    if (cause.path.find(file) != std::string::npos) return;
    if (cause.path.find(xdmf_name_of(file)) != std::string::npos) return;
    if (dropped && cause.path.ends_with(fmt::format("_{}.dropped", owner_))) return;
    const auto& paths = config_.storage.paths;
    if (durable && std::find(paths.begin(), paths.end(), cause.path) != paths.end()) return;
  }
  // The file of an iteration that was not published cannot be read any more.
  if (fault.system_errno == ENOENT && fault.operation == "open" && iteration.ended) {
    for (const Cause& cause : faults_.causes) {
      if (cause.path.find(file) != std::string::npos) return;
    }
  }
  fail("telling", "a failure without a cause: " + fault.message);
}

// Notes the result of a call that waited: it counts a failure that it is the first to report, and not one that was
// reported before.
void ClientProgram::note_end_of(const Status& status) {
  if (status.ok() || status.fault().message.find("was already reported") != std::string::npos) return;
  note(status.fault());
}

// Checks that a refusal for lack of memory is right.
void ClientProgram::check_refusal(const Status& status) {
  if (status.code() == TAILRACE_BUDGET_HELD) {
    const auto& all = model_.iterations;
    const bool holds =
        std::any_of(all.begin(), all.end(), [](const auto& of) { return !of.second.uncommitted.empty(); });
    return check(holds || raw_files_.held() > 0, "answer",
                 "the budget is said to be held by the caller, who holds nothing");
  }
  const bool is = std::any_of(config_.variables.begin(), config_.variables.end(), [&](const Variable& variable) {
    return config_.layout_of(variable).bytes() > config_.memory.budget;
  });
  check(is, "answer", "a block that fits into the budget is said to be too large");
}

// Returns true if the verb was not accepted, for a reason that the model knows.
bool ClientProgram::refused(IterationModel& iteration, const Status& status) {
  if (iteration.dropped) check(status.code() == TAILRACE_DROPPED, "answer", "a dropped iteration took something");
  switch (status.code()) {
    case TAILRACE_DROPPED:
      // It was written through and failed, since another client has dropped the iteration.
      if (!model_.drops && others_may_drop(status.fault().iteration)) return false;
      check(config_.memory.when_full == WhenFull::drop, "answer",
            "an iteration was dropped, which is not the policy");
      iteration.dropped = true;
      iteration.next.reset();
      return true;
    case TAILRACE_BUDGET_HELD:
    case TAILRACE_TOO_LARGE:
      check_refusal(status);
      iteration.next.reset();
      return true;
    default: return false;
  }
}

void ClientProgram::may_accept(IterationModel& iteration, uint32_t variable, Content content) {
  iteration.next = iteration.now;
  iteration.next->blocks[variable] = content;
  iteration.next->sizes[variable] = bytes_of(variable);
}

void ClientProgram::accept(IterationModel& iteration, uint32_t variable, Content content) {
  iteration.next.reset();
  ++accepted_;
  ++accepted_of_[variable];
  iteration.now.blocks[variable] = content;
  iteration.now.sizes[variable] = bytes_of(variable);
}

bool ClientProgram::is_part(uint32_t variable) const {
  const Layout& layout = config_.layout_of(config_.variables[variable]);
  return stored_as(config_.variables[variable], layout, config_.storage.file_per, process_.number()).shared;
}

bool ClientProgram::others_touch(int64_t number) const {
  if (!of_node_) return false;
  return std::any_of(models_.begin(), models_.end(), [&](const ClientModel& other) {
    const IterationModel& iteration = other.iteration(number);
    return &other != &model_ && (iteration.touched() || iteration.next || iteration.absent);
  });
}

void ClientProgram::check_memory() {
  check(client_.pool().held() <= config_.memory.budget, "budget", "more memory is held than the budget");
  for (const auto& [number, iteration] : model_.iterations) {
    for (const auto& [variable, held] : iteration.uncommitted) {
      const auto at = first_difference(held.second, bytes_of(variable), held.first);
      if (at) fail("memory", fmt::format("somebody wrote into memory that alloc gave out, at byte {}", *at));
    }
  }
}

void ClientProgram::check_told() {
  const FailureLog& failures = process_.client_channel().failures;
  check(told_ == failures.total(), "telling", "failures told are not failures that were");
  check(failures.unseen() == 0, "telling", "a failure has never been told");
}

void ClientProgram::check_counters() {
  const Channel& channel = process_.client_channel();
  check(process_.guards_hold(), "memory", "somebody wrote beside the pool");
  check(process_.engine_is_idle(), "end", "something is under way after the end");
  if (!of_node_) check_told();
  check(client_.counters().blocks_accepted == accepted_, "counters", "blocks accepted");
  const uint64_t ends = channel.counters.blocks_written.get() + channel.counters.blocks_failed.get();
  const bool repeated = process_.lost_a_server() && ends > accepted_;
  check(ends == accepted_ || repeated, "counters", "blocks written and failed are not the blocks accepted");
  check_variables();
  check(client_.pool().peak() <= config_.memory.budget, "budget", "more memory was held than the budget");
  client_.pool().collect();
  uint64_t held = raw_files_.held();
  for (const auto& [number, iteration] : model_.iterations) {
    for (const auto& [variable, block] : iteration.uncommitted) held += RangeAllocator::rounded(bytes_of(variable));
  }
  const bool all_back = client_.pool().held() == held;
  check(all_back || !process_.knows_of_losses(), "memory", "the pool has not got all of its memory back");
  for (const Lent& lent : lent_) {
    if (lent.ticket == 0) continue;
    check(channel.tickets.look(lent.ticket) != TicketState::pending, "end", "a ticket has never ended");
  }
}

// Checks that the counts and times of the variables add up to the totals.
void ClientProgram::check_variables() {
  const ServerCounters& all = process_.client_channel().counters;
  uint64_t written = 0;
  uint64_t failed = 0;
  uint64_t bytes = 0;
  const auto longest = static_cast<uint64_t>(world_.time().count());
  for (uint32_t variable = 0; variable < config_.variables.size(); ++variable) {
    const VariableCounters& of = process_.client_channel().variables[variable];
    written += of.blocks_written.get();
    failed += of.blocks_failed.get();
    bytes += of.bytes_written.get();
    const uint64_t timed = of.writing.count();
    // Chunks of an iteration that is dropped meanwhile are not written, and so there are no times.
    const uint64_t least = config_.variables[variable].filtered() ? 0 : of.blocks_written.get();
    check(timed >= least && timed <= of.blocks_written.get() + of.blocks_failed.get(), "counters",
          "blocks timed are not blocks that ended");
    check(of.queued.count() == timed, "counters", "blocks queued are not blocks that were written");
    check(of.queued.most() <= longest && of.writing.most() <= longest, "counters",
          "a block took longer than the run");
    check(client_.counters(variable).blocks_accepted == accepted_of_[variable], "counters", "blocks of a variable");
  }
  check(written == all.blocks_written.get() && failed == all.blocks_failed.get() && bytes == all.bytes_written.get(),
        "counters", "variables do not add up");
}

ClientProgram::Lent ClientProgram::lend(uint64_t bytes) {
  Lent lent;
  const uint64_t shift = dice_.chance(50) ? 0 : dice_.one_of<uint64_t>({1, 64, 512, 520, 4095});
  const uint64_t room = (bytes + shift + 4095) / 4096 * 4096;
  lent.memory.reset(static_cast<std::byte*>(std::aligned_alloc(4096, room)));
  lent.data = lent.memory.get() + shift;
  lent.bytes = bytes;
  return lent;
}

uint64_t ClientProgram::bytes_of(uint32_t variable, uint64_t length) const {
  return bytes_of_length(config_.layout_of(config_.variables[variable]), length);
}

}  // namespace tailrace::impl::simulation
