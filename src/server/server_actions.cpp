#include "server/server_actions.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/assert.hpp"
#include "base/names/counted.hpp"

namespace tailrace::impl {
namespace {

bool has_node_scope(const Config& config) {
  return std::any_of(config.actions.begin(), config.actions.end(),
                     [](const Action& action) { return action.scope == Action::Scope::node; });
}

// Returns the actions that the tally counts. If any has scope `node`, the tally also counts the clients that have
// ended an iteration.
std::vector<Action> counted_actions(const Config& config) {
  std::vector<Action> actions;
  for (const Action& action : config.actions) {
    if (action.run != Action::Run::store) actions.push_back(action);
  }
  if (has_node_scope(config)) {
    Action end;
    end.event = kEndIteration;
    end.scope = Action::Scope::node;
    actions.push_back(std::move(end));
  }
  return actions;
}

std::string short_name(const Action& action) { return action.function.empty() ? action.text : action.function; }

// Returns the names by which findings name the actions: the function's name, with its number in the list if several
// actions have the same function.
std::vector<std::string> names_of(const std::vector<Action>& actions) {
  std::vector<std::string> names;
  for (size_t i = 0; i < actions.size(); ++i) {
    const std::string name = short_name(actions[i]);
    const auto same =
        std::count_if(actions.begin(), actions.end(), [&](const Action& other) { return short_name(other) == name; });
    names.push_back(same > 1 ? fmt::format("{}{}", name, i) : name);
  }
  return names;
}

Nanoseconds longest_limit(const Config& config) {
  Nanoseconds longest = Nanoseconds::zero();
  for (const Action& action : config.actions) longest = std::max<Nanoseconds>(longest, action.limit);
  return longest;
}

// Logs messages and output line by line, so that each line has the log's prefix. The user asked for all of it.
void log_lines(Log& log, const std::string& name, const std::string& text) {
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    log.put(LogLevel::info, fmt::format("action '{}': {}", name, text.substr(begin, end - begin)));
    begin = end + 1;
  }
}

std::string text_of(const FindingValue& value) {
  if (const auto* number = std::get_if<double>(&value)) return fmt::format("{}", *number);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return counted(std::get<std::vector<double>>(value).size(), "number");
}

}  // namespace

bool ServerActions::needed(const Config& config) {
  return std::any_of(config.actions.begin(), config.actions.end(),
                     [](const Action& action) { return action.run != Action::Run::store; });
}

Result<std::unique_ptr<ServerActions>> ServerActions::create(const Config& config, ActionOptions options,
                                                             const Clock& clock, Log& log) {
  auto runner = ActionRunner::create(config, std::move(options), clock);
  if (!runner.ok()) return runner.status();
  std::unique_ptr<ServerActions> actions(new ServerActions(config, clock, log));
  actions->runner_ = std::move(runner).value();
  return actions;
}

ServerActions::ServerActions(const Config& config, const Clock& clock, Log& log)
    : config_(config),
      clock_(clock),
      log_(log),
      held_(held_variables(config.variables.size(), config.actions)),
      names_(names_of(config.actions)),
      of_node_(has_node_scope(config)),
      patience_(longest_limit(config)),
      tally_(counted_actions(config), of_node_ ? static_cast<size_t>(config.place.clients) : 0),
      kept_(config.variables) {}

// ---- clients come and go ------------------------------------------------------------------------------------

Status ServerActions::add_segment(int client, int fd, uint64_t bytes) {
  const auto number = static_cast<uint32_t>(client);
  runner_->forget_segment(number);  // of a client that could not come after all
  return runner_->add_segment(number, fd, bytes);
}

void ServerActions::join(int client, Server& server) {
  Member& member = members_[client];
  member.server = &server;
  tally_.join(client);
  server.serve_actions(*this);
  for (const Status& failure : failures_) server.tell(failure);
  runner_->start();
}

// The iterations that some clients have ended, and in which the earlier server has heard nothing of others. Those
// others may have ended them, too, and the earlier server had published their files.
void ServerActions::taken_up() {
  std::set<int64_t> waiting;
  for (const auto& [client, member] : members_) {
    for (const auto& [iteration, turn] : member.turns) {
      if (turn.waits) waiting.insert(iteration);
    }
  }
  for (const int64_t iteration : waiting) {
    for (auto& [client, member] : members_) {
      if (member.turns.contains(iteration) || !member.server->files().format().published(iteration)) continue;
      begin(tally_.pass(client, iteration));
    }
  }
}

void ServerActions::leave(int client) {
  begin(tally_.leave(client));
  if (tally_.has_clients()) return;
  // No client is left that could raise the events that some have not raised.
  std::set<int64_t> waiting;
  for (const auto& [other, member] : members_) {
    for (const auto& [iteration, turn] : member.turns) {
      if (turn.waits && !tally_.past(std::string(kEndIteration), iteration)) waiting.insert(iteration);
    }
  }
  for (const int64_t iteration : waiting) {
    log_.warning("iteration {}: its actions of scope 'node' are not run, since not all of {} have ended it",
                 iteration, counted(static_cast<uint64_t>(config_.place.clients), "client"));
    stop_waiting(iteration);
  }
}

bool ServerActions::waits() const {
  return std::any_of(members_.begin(), members_.end(), [](const auto& member) {
    const auto& turns = member.second.turns;
    return std::any_of(turns.begin(), turns.end(), [](const auto& turn) { return turn.second.waits; });
  });
}

bool ServerActions::released(int client) const {
  const Member& member = members_.at(client);
  return std::none_of(member.turns.begin(), member.turns.end(),
                      [](const auto& entry) { return entry.second.holds; }) &&
         std::none_of(member.memory.begin(), member.memory.end(),
                      [](const auto& entry) { return entry.second.users > 0; });
}

void ServerActions::dismiss(int client) {
  let_go(kept_.leave(client));
  members_.erase(client);
  runner_->forget_segment(static_cast<uint32_t>(client));
}

// ---- blocks -------------------------------------------------------------------------------------------------

void ServerActions::came(const Block& block, const Descriptor& verb, bool written) {
  if (!held_[block.variable]) return;
  Member& member = members_.at(block.source);
  HeldBlock held;
  held.variable = block.variable;
  held.iteration = block.iteration;
  held.source = block.source;
  held.segment = static_cast<uint32_t>(block.source);
  held.offset = verb.bytes.address;
  held.length = verb.bytes.length;
  held.token = verb.sequence;
  held.layout = block.layout.get();
  Memory& memory = member.memory[verb.sequence];
  memory.block = verb.bytes.block;
  memory.written = written;
  memory.layout = block.layout;
  if (const std::optional<HeldBlock> before = kept_.add(held)) let_go({*before});
}

bool ServerActions::keeps(int client, const Descriptor& block) {
  Member& member = members_.at(client);
  const auto found = member.memory.find(block.sequence);
  if (found == member.memory.end()) return false;
  found->second.written = true;
  return true;
}

bool ServerActions::holds(int client, uint64_t sequence) const {
  return members_.at(client).memory.contains(sequence);
}

void ServerActions::let_go(const std::vector<HeldBlock>& blocks) {
  for (const HeldBlock& block : blocks) {
    Member& member = members_.at(block.source);
    member.memory.at(block.token).kept = false;
    give_back_if_free(member, block.token);
  }
}

void ServerActions::give_back_if_free(Member& member, uint64_t sequence) {
  const auto found = member.memory.find(sequence);
  const Memory memory = found->second;
  if (memory.kept || memory.users > 0) return;
  member.memory.erase(found);
  if (memory.written) member.server->give_back(memory.block, sequence);  // otherwise the end of its write does so
}

// ---- events -------------------------------------------------------------------------------------------------

void ServerActions::raised(int client, const std::string& event, int64_t iteration) {
  begin(tally_.raise(client, event, iteration));
}

bool ServerActions::ending(int client, int64_t iteration) {
  Turn& turn = members_.at(client).turns[iteration];
  turn.ended = true;
  turn.waits = of_node_ && !tally_.past(std::string(kEndIteration), iteration);
  update(client, iteration);
  const std::vector<DueEvent> due = tally_.raise(client, std::string(kEndIteration), iteration);
  begin(due);
  const bool all =
      std::any_of(due.begin(), due.end(), [](const DueEvent& one) { return one.scope == Action::Scope::node; });
  return turn.waits && !all;
}

// The iteration is ended for the sake of the other clients; its own actions do not run, and its blocks are not kept.
void ServerActions::dropping(int client, int64_t iteration) {
  members_.at(client).turns[iteration].ended = true;
  let_go(kept_.drop(client, iteration));
  std::vector<DueEvent> due = tally_.raise(client, std::string(kEndIteration), iteration);
  std::erase_if(due, [](const DueEvent& one) { return one.scope == Action::Scope::client; });
  begin(due);
}

void ServerActions::left(int client, int64_t iteration) {
  const auto found = members_.find(client);
  if (found == members_.end()) return;
  found->second.turns.erase(iteration);
  let_go(kept_.end(client, iteration));
}

void ServerActions::begin(const std::vector<DueEvent>& all_due) {
  for (const DueEvent& due : all_due) {
    const bool dropped = drops(config_.actions, due);
    for (const int client : due.clients) {
      const auto found = members_.find(client);
      if (found == members_.end()) continue;
      ++found->second.turns[due.iteration].events;
      update(client, due.iteration);
      if (dropped) {
        found->second.server->files().give_up(due.iteration, fmt::format("action 'drop' on event '{}'", due.event));
      }
    }
    std::vector<HeldBlock> blocks = kept_.of(due.iteration, due.clients);
    Event event;
    event.due = due;
    for (const HeldBlock& block : blocks) {
      ++members_.at(block.source).memory.at(block.token).users;
      event.blocks.emplace_back(block.source, block.token);
    }
    events_[runner_->run(due, std::move(blocks))] = std::move(event);
  }
}

void ServerActions::progress() {
  const ActionProgress progress = runner_->progress();
  for (const ActionFailure& failure : progress.failures) tell(failure);
  for (const EndedEvent& ended : progress.ended) end_event(ended);
  for (auto& [client, member] : members_) make_room(client, member);
}

void ServerActions::end_event(const EndedEvent& ended) {
  for (const ActionEnd& end : ended.ends) {
    const std::string& name = config_.actions[end.action].text;
    for (const std::string& message : end.messages) log_lines(log_, name, message);
    log_lines(log_, name, end.output);
    if (end.output_cut > 0) {
      log_.put(LogLevel::info, fmt::format("action '{}': … and {} more", name, counted(end.output_cut, "byte")));
    }
    note_findings(ended, end);
  }
  const Event event = std::move(events_.extract(ended.number).mapped());
  for (const auto& [client, sequence] : event.blocks) {
    Member& member = members_.at(client);
    --member.memory.at(sequence).users;
    give_back_if_free(member, sequence);
  }
  for (const int client : event.due.clients) {
    const auto member = members_.find(client);
    if (member == members_.end()) continue;
    const auto turn = member->second.turns.find(event.due.iteration);
    if (turn == member->second.turns.end() || turn->second.events == 0) continue;
    --turn->second.events;
    update(client, event.due.iteration);
  }
  // All earlier events of the iteration have ended before this one.
  if (event.due.event == kEndIteration && event.due.scope == Action::Scope::node) stop_waiting(event.due.iteration);
}

void ServerActions::stop_waiting(int64_t iteration) {
  tally_.forget(iteration);
  for (auto& [client, member] : members_) {
    const auto turn = member.turns.find(iteration);
    if (turn == member.turns.end()) continue;
    turn->second.waits = false;
    update(client, iteration);
  }
}

// Holds the publication of the client's file as long as necessary.
void ServerActions::update(int client, int64_t iteration) {
  Member& member = members_.at(client);
  Turn& turn = member.turns.at(iteration);
  const bool needed = turn.events > 0 || turn.waits;
  if (needed == turn.holds) return;
  FileGroup& files = member.server->files();
  if (needed) {
    turn.holds = files.hold(iteration).ok();
    return;
  }
  turn.holds = false;
  files.release(iteration);  // may end the turn
}

// ---- results of actions -------------------------------------------------------------------------------------

void ServerActions::tell(const ActionFailure& failure) {
  log_.put_of_kind(LogLevel::error, "an action has failed", failure.status.fault().message);
  if (!failure.output.empty()) log_lines(log_, config_.actions[failure.action].text, failure.output);
  failures_.push_back(failure.status);
  for (auto& [client, member] : members_) member.server->tell(failure.status);
}

// Puts the findings into the files of all clients that raised the event; into each file once.
void ServerActions::note_findings(const EndedEvent& ended, const ActionEnd& end) {
  if (end.findings.empty()) return;
  std::set<FileGroup*> groups;
  for (const int client : ended.event.clients) {
    const auto member = members_.find(client);
    if (member != members_.end()) groups.insert(&member->second.server->files());
  }
  const bool shared = config_.storage.shares_files() && ended.event.scope == Action::Scope::client;
  const std::string whose = shared ? fmt::format("c{}_", ended.event.clients.front()) : "";
  for (const Finding& finding : end.findings) {
    const std::string name = fmt::format("tailraceAction_{}_{}{}", names_[end.action], whose, finding.key);
    log_.put(LogLevel::info,
             fmt::format("iteration {}: {} = {}", ended.event.iteration, name, text_of(finding.value)));
    for (FileGroup* const files : groups) {
      const Status noted = files->note_finding(ended.event.iteration, names_[end.action], name, finding.value);
      if (!noted.ok()) log_.error("iteration {}: {}", ended.event.iteration, noted.fault().message);
    }
  }
}

// ---- memory -------------------------------------------------------------------------------------------------

// A client that waits for memory, has seen all blocks that were given back, and has nothing under way that will free
// some, would wait forever. It gets the blocks of the oldest iteration back, and then those of the next. If other
// clients could help by ending an iteration, they have as long as an action may run.
void ServerActions::make_room(int client, Member& member) {
  if (!member.server->hungry() || member.will_get_memory()) {
    member.hungry_since.reset();
    return;
  }
  const auto has_ended = [](const auto& entry) { return entry.second.ended; };
  if (std::any_of(member.turns.begin(), member.turns.end(), has_ended)) {
    if (!member.hungry_since) member.hungry_since = clock_.now();
    if (clock_.now() - *member.hungry_since < patience_) return;
  }
  give_up_oldest(client, member);
  member.hungry_since.reset();
}

// Returns true if work is under way that ends by itself, and may free memory. Blocks that are held for other clients
// do not.
bool ServerActions::Member::will_get_memory() const {
  const bool runs =
      std::any_of(memory.begin(), memory.end(), [](const auto& entry) { return entry.second.users > 0; });
  return runs || std::any_of(turns.begin(), turns.end(), [this](const auto& entry) {
           const auto& [iteration, turn] = entry;
           return turn.events > 0 || (!turn.holds && server->files().iterations().leaving(iteration));
         });
}

void ServerActions::give_up_oldest(int client, Member& member) {
  const std::optional<int64_t> oldest = kept_.oldest(client);
  if (!oldest) return;
  const bool over = kept_.is_over(client, *oldest);
  let_go(kept_.drop(client, *oldest));
  if (over) {
    if (!std::exchange(member.told_of_room, true)) {
      log_.warning(
          "client {} waits for memory: blocks of iteration {}, which 'keep' would have kept for later "
          "actions, are given up; raise memory.budget (said once)",
          client, *oldest);
    }
    return;
  }
  Fault fault;
  fault.code = TAILRACE_ACTION_FAILED;
  fault.operation = "action";
  fault.iteration = *oldest;
  fault.message = fmt::format(
      "the actions of iteration {} do not get the blocks that client {} had handed over for "
      "it: it waited for memory, and nothing else was left to give; raise memory.budget. The "
      "data are still stored",
      *oldest, client);
  log_.put_of_kind(LogLevel::error, "an action lacks blocks", fault.message);
  member.server->tell(Status(std::move(fault)));
}

Nanoseconds ServerActions::deadline() const {
  Nanoseconds earliest = runner_->deadline();
  for (const auto& [client, member] : members_) {
    if (member.hungry_since) earliest = std::min(earliest, *member.hungry_since + patience_);
  }
  return earliest;
}

void ServerActions::finish() {
  const auto wait = [this] {                                  // for the runner alone
    constexpr Nanoseconds longest = std::chrono::minutes(1);  // poll() counts in int
    const Nanoseconds left = std::clamp(runner_->deadline() - clock_.now(), Nanoseconds::zero(), longest);
    pollfd wake{runner_->fd(), POLLIN, 0};
    (void)::poll(&wake, 1, static_cast<int>(std::chrono::ceil<std::chrono::milliseconds>(left).count()));
  };
  while (!runner_->idle()) {
    wait();
    progress();
  }
  runner_->stop();
  while (!runner_->stopped()) {
    wait();
    (void)runner_->progress();
  }
}

}  // namespace tailrace::impl
