#include "action/action_runner.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

// Both enumerations list the same types in the same order.
static_assert(static_cast<int>(ElementType::int8) + 1 == TAILRACE_INT8);
static_assert(static_cast<int>(ElementType::complex128) + 1 == TAILRACE_COMPLEX128);

BlockRecord record_of(const HeldBlock& block) {
  const Layout& layout = *block.layout;
  TAILRACE_ASSERT(layout.shape.size() <= kWireRank);
  BlockRecord record;
  record.offset = block.offset;
  record.length = block.length;
  record.iteration = block.iteration;
  record.segment = block.segment;
  record.variable = block.variable;
  record.source = block.source;
  record.type = static_cast<int32_t>(layout.type) + 1;
  record.rank = static_cast<uint32_t>(layout.shape.size());
  std::copy(layout.shape.begin(), layout.shape.end(), record.shape);
  std::copy(layout.global_shape.begin(), layout.global_shape.end(), record.global_shape);
  std::copy(layout.offset.begin(), layout.offset.end(), record.place);
  return record;
}

bool gets(const Action& action, uint32_t variable) {
  return action.variables.empty() || std::binary_search(action.variables.begin(), action.variables.end(), variable);
}

}  // namespace

Result<std::unique_ptr<ActionRunner>> ActionRunner::create(const Config& config, ActionOptions options,
                                                           const Clock& clock) {
  FileDescriptor epoll(::epoll_create1(EPOLL_CLOEXEC));
  if (!epoll.is_open()) return Status::of_errno("create", "epoll of the actions", errno);
  return std::unique_ptr<ActionRunner>(new ActionRunner(config, std::move(options), clock, std::move(epoll)));
}

ActionRunner::ActionRunner(const Config& config, ActionOptions options, const Clock& clock, FileDescriptor epoll)
    : config_(config), options_(std::move(options)), clock_(clock), epoll_(std::move(epoll)) {
  phases_.assign(config.actions.size(), Phase::unloaded);
  host_index_.resize(config.actions.size());
  std::map<std::string, size_t> by_file;  // "" for the built-in functions
  for (uint32_t i = 0; i < config.actions.size(); ++i) {
    if (!is_call(config.actions[i])) continue;
    const auto [place, fresh] = by_file.try_emplace(config.actions[i].file, hosts_.size());
    if (fresh) hosts_.emplace_back();
    host_index_[i] = place->second;
    hosts_[place->second].actions.push_back(i);
  }
}

ActionRunner::~ActionRunner() = default;

Status ActionRunner::add_segment(uint32_t number, int fd, uint64_t bytes) {
  TAILRACE_REQUIRE(segments_.count(number) == 0);
  // Opens the memory again, so that no process can make the plugin host's descriptor writable.
  FileDescriptor read_only(::open(fmt::format("/proc/self/fd/{}", fd).c_str(), O_RDONLY | O_CLOEXEC));
  if (!read_only.is_open()) return Status::of_errno("open", "shared memory of a client, for its actions", errno);
  for (Host& host : hosts_) {
    if (host.process) host.process->add_segment(number, read_only.get(), bytes);
  }
  segments_.emplace(number, Segment{std::move(read_only), bytes});
  return {};
}

void ActionRunner::forget_segment(uint32_t number) {
  if (segments_.erase(number) == 0) return;
  for (Host& host : hosts_) {
    if (host.process) host.process->forget_segment(number);
  }
}

void ActionRunner::start() {
  started_ = true;
  for (Host& host : hosts_) load_next(host);
}

uint64_t ActionRunner::run(const DueEvent& due, std::vector<HeldBlock> blocks) {
  TAILRACE_REQUIRE(!stopping_);
  Event event;
  const uint64_t number = event.number = next_number_++;
  event.due = due;
  event.blocks = std::move(blocks);
  for (uint32_t i = 0; i < config_.actions.size(); ++i) {
    const Action& action = config_.actions[i];
    if (is_call(action) && action.event == due.event && action.scope == due.scope) event.actions.push_back(i);
  }
  events_.push_back(std::move(event));
  if (!started_) start();
  advance_events();
  return number;
}

ActionProgress ActionRunner::progress() {
  dying_.remove_if([](HostProcess& process) { return process.reap().has_value(); });
  for (Host& host : hosts_) {
    while (host.process) {
      std::optional<HostEnd> ended = host.process->progress();
      if (!ended) break;
      host_ended(host, std::move(*ended));
    }
    if (started_ && !stopping_) load_next(host);
  }
  advance_events();
  return std::exchange(progress_, {});
}

Nanoseconds ActionRunner::deadline() const {
  // A failure or an end that has not been reported is due at once.
  if (!progress_.failures.empty() || !progress_.ended.empty()) return Nanoseconds::zero();
  Nanoseconds earliest = Nanoseconds::max();
  for (const Host& host : hosts_) {
    if (host.process) earliest = std::min(earliest, host.process->deadline());
  }
  return earliest;
}

void ActionRunner::stop() {
  TAILRACE_REQUIRE(idle());
  stopping_ = true;
  for (Host& host : hosts_) {
    if (!host.process) continue;
    if (host.process->free()) {
      host.process->stop(options_.stop_limit);
    } else {  // a load, which no event waits for
      dying_.push_back(std::move(*host.process).take_process());
      dying_.back().kill();
      host.process.reset();
    }
  }
}

bool ActionRunner::stopped() const {
  return stopping_ && std::none_of(hosts_.begin(), hosts_.end(), [](const Host& host) { return !!host.process; });
}

// Starts the host. If that fails, disables all of its actions and returns false.
bool ActionRunner::start_host(Host& host) {
  if (host.process) return true;
  Result<PluginHost> started = PluginHost::start(options_.host_executable, epoll_.get(), clock_);
  if (!started.ok()) {
    const std::string why = "found no plugin host: " + started.status().fault().message;
    for (const uint32_t action : host.actions) fail(action, why, {}, nullptr);
    return false;
  }
  host.process.emplace(std::move(started).value());
  for (const auto& [number, segment] : segments_) host.process->add_segment(number, segment.fd.get(), segment.bytes);
  return true;
}

// Begins to load one function that the host has not loaded. Returns false if there is none, or if the host is busy.
bool ActionRunner::load_next(Host& host) {
  if (host.busy) return false;
  const auto next = std::find_if(host.actions.begin(), host.actions.end(),
                                 [&](uint32_t action) { return phases_[action] == Phase::unloaded; });
  if (next == host.actions.end() || !start_host(host)) return false;
  if (!host.process->free()) return false;
  const Action& action = config_.actions[*next];
  host.busy = host.last = *next;
  host.process->begin_load(
      *next, {action.run, action.file, action.function, config_.python_environment, config_.program_python},
      options_.load_limit);
  return true;
}

void ActionRunner::host_ended(Host& host, HostEnd ended) {
  const std::optional<uint32_t> busy = std::exchange(host.busy, std::nullopt);
  const uint32_t action = busy.value_or(host.last);
  if (ended.lost) {
    dying_.push_back(std::move(*host.process).take_process());
    host.process.reset();
    // Another host has to load the functions again.
    for (const uint32_t other : host.actions) {
      if (phases_[other] == Phase::loaded) phases_[other] = Phase::unloaded;
    }
  }
  const bool calling =
      busy && !events_.empty() && events_.front().running && events_.front().actions[events_.front().next] == action;
  if (ended.failed) {
    const std::string why = ended.idle ? ended.why + ", though nothing was asked of it" : ended.why;
    fail(action, why, ended.output, calling ? &events_.front() : nullptr);
  } else if (busy && !calling) {
    phases_[action] = Phase::loaded;
  }
  if (calling) call_ended(std::move(ended), ended.failed);
  const auto disabled = [&](uint32_t one) { return phases_[one] == Phase::disabled; };
  if (host.process && host.process->free() && std::all_of(host.actions.begin(), host.actions.end(), disabled)) {
    host.process->stop(options_.stop_limit);
  }
}

// Handles the end of the action that the first event runs.
void ActionRunner::call_ended(HostEnd ended, bool failed) {
  Event& event = events_.front();
  ActionEnd end;
  end.action = event.actions[event.next];
  end.how = failed ? ActionEnd::How::failed : ActionEnd::How::done;
  end.messages = std::move(ended.answer.messages);
  if (!failed) {
    end.findings = std::move(ended.answer.findings);
    end.output = std::move(ended.output);
    end.output_cut = ended.output_cut;
  }
  event.ends.push_back(std::move(end));
  event.running = false;
  ++event.next;
}

void ActionRunner::advance_events() {
  while (!events_.empty() && advance(events_.front())) {
    Event& event = events_.front();
    progress_.ended.push_back({event.number, std::move(event.due), std::move(event.ends)});
    events_.pop_front();
  }
}

// Begins the next call of the event if possible. Returns true if the event has ended.
bool ActionRunner::advance(Event& event) {
  while (!event.running && event.next < event.actions.size()) {
    const uint32_t index = event.actions[event.next];
    Host& host = host_of(index);
    if (phases_[index] == Phase::unloaded && !host.busy) load_next(host);
    if (phases_[index] == Phase::disabled) {
      ActionEnd end;
      end.action = index;
      end.how = ActionEnd::How::skipped;
      event.ends.push_back(std::move(end));
      ++event.next;
      continue;
    }
    if (phases_[index] == Phase::unloaded || host.busy) return false;
    const Action& action = config_.actions[index];
    host.busy = host.last = index;
    event.running = true;
    host.process->begin_call(index, call_of(event, action), action.limit);
  }
  return event.next == event.actions.size();
}

PluginCall ActionRunner::call_of(const Event& event, const Action& action) const {
  PluginCall call;
  call.event = event.due.event;
  call.iteration = event.due.iteration;
  call.clients = event.due.clients;
  for (const Variable& variable : config_.variables) call.variables.push_back({variable.name, variable.unit.symbol});
  for (const HeldBlock& block : event.blocks) {
    if (gets(action, block.variable)) call.blocks.push_back(record_of(block));
  }
  return call;
}

void ActionRunner::fail(uint32_t index, const std::string& why, std::string output, const Event* event) {
  if (phases_[index] == Phase::disabled) return;
  phases_[index] = Phase::disabled;
  const Action& action = config_.actions[index];
  Fault fault;
  fault.code = TAILRACE_ACTION_FAILED;
  fault.operation = "action";
  fault.file = action.file;
  std::string when;
  if (event != nullptr) {
    fault.iteration = event->due.iteration;
    when = fmt::format(", event '{}' of iteration {}", event->due.event, event->due.iteration);
  }
  fault.message = fmt::format("action '{}'{}: {}. It is disabled; the data are still stored", action.text, when, why);
  progress_.failures.push_back({index, Status(std::move(fault)), std::move(output)});
}

}  // namespace tailrace::impl
