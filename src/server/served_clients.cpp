#include "server/served_clients.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "channel/channel_ends.hpp"
#include "client/open_iterations.hpp"
#include "server/iteration_limit.hpp"
#include "server/server.hpp"

namespace tailrace::impl {
namespace {

// How many reads, flushes, settings of parameters and verbs about raw files the ledger keeps before those that no
// longer matter are struck out. At least as many as there were other records, or the server would do nothing but
// search for them.
constexpr size_t kPassingKept = 256;

// Returns true for verbs by which a client begins an iteration that it has to end …
bool opens(Verb verb) {
  return verb == Verb::write || verb == Verb::borrow || verb == Verb::signal || verb == Verb::attribute;
}
// … and for those by which it ends one.
bool ends(Verb verb) { return verb == Verb::end_iteration || verb == Verb::drop_iteration; }

// Returns true for verbs that belong to no iteration, and are not struck out with one.
bool is_passing(Verb verb) {
  return verb == Verb::read || is_flush(verb) || verb == Verb::parameter || is_of_file(verb);
}

}  // namespace

// The files of one client, or of all clients.
struct ServedClients::Files final : Witness {
  Files(int group_in, Config config_in, ServedClients& clients_in)
      : group(group_in), config(std::move(config_in)), clients(clients_in), log(clients_in.log_.part()) {}

  const int group;  // number, see Ledger
  const Config config;
  ServedClients& clients;
  const std::unique_ptr<Log> log;  // for messages about these files
  std::unique_ptr<Format> format;
  std::unique_ptr<FileGroup> files;
  std::set<int64_t> published;  // iterations that an earlier server has published, and that were still in the ledger
                                // when this one began

  bool has(int client) const { return group == Ledger::kNode || group == client; }
  void placed(const Block& block, uint64_t index, const FilteredChunk& chunk, const Loss& loss) override {
    clients.ledger_.placed(block, index, chunk, loss);
  }
  void failed(int64_t iteration, const Status& why) override { clients.ledger_.failed(group, iteration, why); }
  void unpublished(int64_t iteration, const Status& why) override {
    clients.ledger_.unpublished(group, iteration, why);
    clients.forget_iteration(group, iteration);
  }
  Status doubt(int64_t iteration) override { return clients.lost_memory(*this, iteration); }
  void journaled(uint64_t end) override { clients.ledger_.journaled(group, end); }
  void left(int64_t iteration) override {
    clients.ledger_.left(group, iteration);
    clients.forget_iteration(group, iteration);
  }
};

struct ServedClients::Member {
  Member(int number_in, Config config_in, const Guest& guest_in, const ClientRings::Stage& stage_in)
      : number(number_in), config(std::move(config_in)), guest(guest_in), stage(stage_in), to_client(guest.channel) {}

  bool is_gone() const { return stage != ClientRings::Stage::here; }
  Urgency urgency() const { return is_gone() || guest.always_waits ? Urgency::waiting : server->urgency(); }

  const int number;
  const Config config;
  const Guest guest;
  const ClientRings::Stage& stage;
  ChannelEnds to_client;
  TraceLog no_trace{0};
  std::unique_ptr<Files> own;  // null if clients share files
  Files* files = nullptr;
  std::unique_ptr<Server> server;
  std::set<int64_t> open;      // iterations that its verbs have begun and not ended
  std::set<int64_t> involved;  // iterations that have verbs of it, and have not left …
  std::set<int64_t> begun;     // … other than those that it only drops
  uint32_t most_begun = 0;     // the highest limit for these that it was told
};

ServedClients::ServedClients(Engine& engine, Ledger& ledger, Log& log, RunWatch& runs, MakeFormat make_format,
                             FilterCrew* crew, Descriptors descriptors, uint32_t expected)
    : engine_(engine),
      ledger_(ledger),
      log_(log),
      runs_(runs),
      make_format_(std::move(make_format)),
      crew_(crew),
      descriptors_(std::move(descriptors)),
      expected_(expected),
      raw_files_(engine) {}

ServedClients::~ServedClients() = default;

std::unique_ptr<ServedClients::Files> ServedClients::make_files(int group, const Config& config, int client) {
  auto files = std::make_unique<Files>(group, config, *this);
  const bool node = group == Ledger::kNode;
  files->format = make_format_(client, files->config);
  FileGroup::Options options;
  options.journal = fmt::format("{}/{}.dropped", config.storage.paths[0], series_of(config, client));
  options.journal_end = ledger_.journal_end(group);
  options.clients = node ? static_cast<uint32_t>(config.place.clients) : 1;
  options.on_missing = config.place.on_missing;
  files->files = std::make_unique<FileGroup>(files->config.storage, engine_, *files->format, *files->log, *files,
                                             std::move(options));
  return files;
}

ServedClients::Files& ServedClients::files_for(Member& member) {
  if (!member.config.storage.shares_files()) {
    member.own = make_files(member.number, member.config, member.number);
    return *member.own;
  }
  if (!node_files_) node_files_ = make_files(Ledger::kNode, member.config, member.number);
  return *node_files_;
}

void ServedClients::begin(int client, Config config, const Guest& guest) {
  add(client, std::move(config), guest, std::nullopt);
}

// `accepted`: the latest verb that an earlier server accepted; none: there was no earlier server.
void ServedClients::add(int client, Config config, const Guest& guest, std::optional<uint64_t> accepted) {
  const ClientRings::Stage& stage = rings_.add(client, guest.channel, guest.server_asleep, accepted.value_or(0));
  auto made = std::make_unique<Member>(client, std::move(config), guest, stage);
  Member& member = *made;
  if (accepted) member.to_client.take_over();
  member.files = &files_for(member);
  member.server =
      std::make_unique<Server>(member.config, client, member.to_client, engine_, *member.files->files,
                               guest.trace != nullptr ? *guest.trace : member.no_trace, crew_, guest.shares_memory);
  member.server->serve_files(raw_files_);
  if (actions_ != nullptr) actions_->join(client, *member.server);
  member.to_client.forget_shared();
  for (const int64_t iteration : common_) member.to_client.begun_by_any(iteration);
  members_[client] = std::move(made);
  came_.insert(client);
  share_descriptors();
}

// All clients that may come get the same number, so that none uses up the descriptors of another.
void ServedClients::share_descriptors() {
  for (auto& [client, member] : members_) {
    const auto& place = member->config.place;
    const int expected =
        place.clients > 0 ? (place.clients + place.cores - 1) / place.cores : static_cast<int>(expected_);
    const uint64_t clients = std::max(static_cast<uint64_t>(expected), members_.size());
    uint64_t each = descriptors_(clients);
    // If all clients share files, a client that is late may begin as many iterations once more.
    if (!member->own) each = std::max(each, each * clients / 2);
    const uint32_t limit = iteration_limit(member->config, each);
    member->most_begun = std::max(member->most_begun, limit);
    member->to_client.set_iteration_limit(limit);
  }
}

// Fails if the memory of a client that takes part in the iteration has gone: zeros may have been written for its
// bytes.
Status ServedClients::lost_memory(const Files& files, int64_t iteration) const {
  Status lost;
  visit_members(files.group, [&](const Member& member) {
    if (!lost.ok() || !member.involved.contains(iteration) || !member.to_client.is_lost()) return;
    lost = Status(TAILRACE_IO_ERROR, fmt::format("client {} has cut its shared memory short", member.number));
  });
  return lost;
}

// Calls `visit` with each client whose files these are: not with all clients, if each has files of its own.
void ServedClients::visit_members(int group, FunctionRef<void(Member& member)> visit) const {
  const bool all = group == Ledger::kNode;
  const auto end = all ? members_.end() : members_.upper_bound(group);
  for (auto at = all ? members_.begin() : members_.lower_bound(group); at != end; ++at) {
    if (at->second->files->group == group) visit(*at->second);
  }
}

// Notes that an iteration of a group has left: its members are no longer needed for it, and may begin another one.
void ServedClients::forget_iteration(int group, int64_t iteration) {
  visit_members(group, [iteration](Member& member) {
    member.involved.erase(iteration);
    member.begun.erase(iteration);
  });
  if (common_.erase(iteration) == 0) return;
  for (auto& [client, member] : members_) member->to_client.left_for_all(iteration);
}

// Notes that the client takes part in the iteration, unless that has left: then nothing waits for others any more,
// and nobody would ever end the client's part in it.
void ServedClients::involve(Member& member, int64_t iteration) {
  if (member.files->files->has_left(iteration)) return;
  member.involved.insert(iteration);
  if (member.own || !common_.insert(iteration).second) return;
  for (auto& [client, other] : members_) other->to_client.begun_by_any(iteration);
}

void ServedClients::adopt(int client, Config config, const Guest& guest) {
  add(client, std::move(config), guest, ledger_.last_sequence(client));
  Member& member = *members_[client];
  member.most_begun = IterationTable<>::kMost;  // an earlier server may have told it a higher limit
}

// ---- taking over from an earlier server ------------------------------------------------------------------

void ServedClients::take_up_ledger() {
  note_earlier_clients();
  if (node_files_) resume(*node_files_, ledger_.records().copy());
  std::map<int, std::vector<LedgerRecord>> records;  // by client
  for (const LedgerRecord& record : ledger_.records()) records[record.client].push_back(record);
  for (auto& [client, member] : members_) {
    if (member->own) resume(*member->own, records[client]);
  }
  for (const LedgerRecord& record : ledger_.records()) {
    const bool again = record.kind == LedgerRecord::Kind::accepted || record.kind == LedgerRecord::Kind::placed;
    if (again && members_.contains(record.client) && !is_published(record)) again_.push_back(record);
  }
  replaying_ = true;
  if (crew_ != nullptr) crew_->pause(true);  // new places come after all the old ones
}

// Notes the clients that, as the earlier server knew, have left, and whether it had given up the absent ones.
void ServedClients::note_earlier_clients() {
  for (const LedgerRecord& record : ledger_.records()) {
    if (record.kind == LedgerRecord::Kind::absent) gave_up_absent_ = true;
    // A client that has gone and is still a member, since not all of its data are published, will leave again.
    const bool has_gone = record.kind == LedgerRecord::Kind::gone && !members_.contains(record.client);
    if (!has_gone) continue;
    came_.insert(record.client);
    if (node_files_) node_files_->files->note_gone(record.client);
    if (actions_ != nullptr) actions_->note_left(record.client);
  }
  if (!gave_up_absent_) return;
  if (node_files_) node_files_->files->give_up_absent(absent_numbers());
  if (actions_ != nullptr) actions_->give_up_absent();
}

// Returns true if a record belongs to an iteration that an earlier server has published, so that it must not be
// repeated.
bool ServedClients::is_published(const LedgerRecord& record) const {
  const bool passing = record.kind == LedgerRecord::Kind::accepted && is_passing(record.descriptor.verb);
  return !passing && members_.at(record.client)->files->published.contains(record.iteration);
}

// `records`: at least those of the files' clients.
void ServedClients::resume(Files& files, const std::vector<LedgerRecord>& records) {
  struct Seen {
    std::set<int> ended;
    bool dropped = false;
    bool all_written = true;
    bool some_written = false;
    bool has_bytes = false;  // in its files
  };
  for (const LedgerRecord& record : records) {
    if (record.kind != LedgerRecord::Kind::unpublished || record.client != files.group) continue;
    files.files->remember_unpublished(record.iteration, Ledger::failure_of(record));
  }
  std::map<int64_t, Seen> iterations;
  std::map<int64_t, Status> failures;
  std::set<int> gone;
  for (const LedgerRecord& record : records) {
    if (record.kind == LedgerRecord::Kind::gone && files.has(record.client)) gone.insert(record.client);
    if (record.kind == LedgerRecord::Kind::failed && record.client == files.group) {
      failures[record.iteration] = Ledger::failure_of(record);
    }
    const auto member = members_.find(record.client);
    if (record.kind != LedgerRecord::Kind::accepted || member == members_.end() || !files.has(record.client))
      continue;
    const Descriptor& verb = record.descriptor;
    if (is_passing(verb.verb)) continue;
    Seen& seen = iterations[record.iteration];
    involve(*member->second, record.iteration);
    if (verb.verb != Verb::drop_iteration) member->second->begun.insert(record.iteration);
    member->second->open.insert(record.iteration);
    if (verb.verb == Verb::end_iteration || verb.verb == Verb::drop_iteration) {
      member->second->open.erase(record.iteration);
      seen.ended.insert(record.client);
      seen.dropped = seen.dropped || verb.verb == Verb::drop_iteration;
    }
    if (verb.verb != Verb::write) continue;
    const bool written = member->second->server->has_ended(verb);
    seen.some_written = seen.some_written || written;
    seen.has_bytes = seen.has_bytes || (written && verb.bytes.length > 0);
    seen.all_written = seen.all_written && written;
  }
  size_t clients = files.group == Ledger::kNode ? static_cast<size_t>(files.config.place.clients) : 1;
  if (files.group == Ledger::kNode && gave_up_absent_) clients = came_.size();
  for (const auto& [iteration, seen] : iterations) {
    std::set<int> done = seen.ended;
    done.insert(gone.begin(), gone.end());
    // An iteration that was dropped is dropped again: a file of its name belongs to an earlier run.
    // An iteration without blocks may have such a file, unless no file can get another one of its number, or each
    // node publishes a part of its own.
    const bool tells = !files.config.storage.has_file_each() || files.config.nodes_share_files();
    const bool in_it = seen.some_written ? seen.all_written : tells;
    const bool whole = !seen.dropped && done.size() >= clients && in_it;
    // The earlier server died between the rename and the ledger's record of it.
    if (whole && !failures.contains(iteration) && files.format->published(iteration)) {
      files.published.insert(iteration);
      give_room(files, iteration);
      files.files->complete_publication(iteration);
      continue;
    }
    // A block that has failed, is empty, or came to a dropped iteration has ended, too, and its file need not exist.
    files.files->resume(iteration, seen.has_bytes && !seen.dropped && !failures.contains(iteration));
    if (files.files->hold(iteration).ok()) held_.emplace_back(files.files.get(), iteration);
  }
  for (const auto& [iteration, why] : failures) files.files->fail(iteration, why);
}

// The server that published the iteration died before its clients knew that they may begin others.
void ServedClients::give_room(const Files& files, int64_t iteration) {
  visit_members(files.group, [iteration](const Member& member) { member.server->give_room(iteration); });
}

void ServedClients::accept_again() {
  while (!again_.empty() && engine_.room() >= FileGroup::kRequestsAtOnce) {
    const LedgerRecord record = again_.front();
    again_.pop_front();
    accept_again(record);
  }
  if (!again_.empty()) return;
  for (const auto& [files, iteration] : std::exchange(held_, {})) files->release(iteration);
  if (crew_ != nullptr) crew_->pause(false);
  if (std::exchange(replaying_, false)) {
    for (auto& [client, member] : members_) member->server->end_again();
    if (actions_ != nullptr) actions_->taken_up();
  }
}

void ServedClients::accept_again(const LedgerRecord& record) {
  const auto found = members_.find(record.client);
  if (found == members_.end()) return;
  Server& server = *found->second->server;
  if (record.kind == LedgerRecord::Kind::accepted) return server.accept_again(record.descriptor);
  // A place of an iteration that was taken for published is not here: it was struck out with that iteration.
  const Ledger::Placed placed = Ledger::placed_by(record);
  server.place_again(placed.block, {placed.index, placed.chunk, placed.loss});
}

// ---- verbs of clients ---------------------------------------------------------------------------------------

Status ServedClients::check(int client, const Descriptor& descriptor) {
  const Member& member = *members_.at(client);
  const Status valid = member.server->check(descriptor);
  return valid.ok() ? check_beginning(member, descriptor) : valid;
}

// Returns ok unless the verb begins an iteration, and the client may begin no more.
Status ServedClients::check_beginning(const Member& member, const Descriptor& verb) const {
  if (!opens(verb.verb) && verb.verb != Verb::end_iteration) return {};
  const bool is_open = member.open.contains(verb.iteration);
  if (opens(verb.verb) && !is_open && member.open.size() >= OpenIterations::kMaxOpen) {
    return Status(TAILRACE_INVALID_ARGUMENT, "it sent too many iterations at once");
  }
  if (member.begun.contains(verb.iteration) || member.files->files->has_left(verb.iteration)) return {};
  // If clients share files, it may join iterations that others have begun.
  const uint32_t most = member.own ? member.most_begun : IterationTable<>::kWords;
  if (member.begun.size() < most) return {};
  return Status(TAILRACE_INVALID_ARGUMENT,
                fmt::format("it sent the beginning of an iteration while {} are unfinished, expected at most {}",
                            member.begun.size(), most));
}

void ServedClients::note_iteration(Member& member, const Descriptor& verb) {
  if (opens(verb.verb)) member.open.insert(verb.iteration);
  if (ends(verb.verb)) member.open.erase(verb.iteration);
  if (!opens(verb.verb) && !ends(verb.verb)) return;
  involve(member, verb.iteration);
  const bool begins = verb.verb != Verb::drop_iteration && member.involved.contains(verb.iteration);
  if (begins) member.begun.insert(verb.iteration);
}

void ServedClients::accept(int client, const Descriptor& descriptor) {
  Member& member = *members_.at(client);
  note_iteration(member, descriptor);
  ledger_.accepted(client, descriptor);
  if (descriptor.verb == Verb::write) {
    ServerCounters& counters = member.to_client.counters();
    counters.blocks_accepted.add();
    counters.bytes_accepted.add(descriptor.bytes.length);
  }
  if (is_passing(descriptor.verb) && ++passing_ >= passing_kept_) strike_out_passing();
  member.server->accept(descriptor);
}

void ServedClients::strike_out_passing() {
  passing_ = 0;
  ledger_.settle([this](int of, const Descriptor& verb) { return is_done(of, verb); });
  passing_kept_ = std::max(kPassingKept, ledger_.records().size());
}

// Returns true if no later server needs to know of this verb. The file_open of a raw file is needed until the file is
// closed.
bool ServedClients::is_done(int client, const Descriptor& verb) const {
  const auto found = members_.find(client);
  if (found == members_.end()) return true;
  const Server& server = *found->second->server;
  if (gives_file_block(verb.verb) || verb.verb == Verb::file_open) return server.has_ended(verb);
  return !found->second->to_client.is_pending(verb.ticket);
}

void ServedClients::lost(int) { runs_.departed(); }

Urgency ServedClients::urgency() const {
  if (!again_.empty() || engine_.room() < FileGroup::kRequestsAtOnce) return Urgency::waiting;
  Urgency most = Urgency::none;
  for (const auto& [client, member] : members_) {
    most = std::max(most, member->urgency());
  }
  return most;
}

bool ServedClients::settled(int client) const { return again_.empty() && members_.at(client)->server->settled(); }

void ServedClients::leave(int client) {
  Member& member = *members_.at(client);
  const bool counted = actions_ != nullptr && actions_->of_node();
  if (member.files->group == Ledger::kNode || counted) ledger_.gone(client, runs_.times());
  if (actions_ != nullptr) actions_->leave(client);
  member.server->leave();
  member.files->files->abandon();
}

// If clients share files, others may still have to end an iteration that this client takes part in. If another server
// has to go on, it needs the client's segment to know what has been written.
bool ServedClients::released(int client) const {
  const Member& member = *members_.at(client);
  if (actions_ != nullptr && !actions_->released(client)) return false;
  return member.own ? member.files->files->idle() : member.involved.empty();
}

void ServedClients::dismiss(int client) {
  const auto node = members_.extract(client);
  if (actions_ != nullptr) actions_->dismiss(client);
  if (passing_ > 0) strike_out_passing();  // the ledger is about to be rewritten, with as few records as possible
  ledger_.forget(client);
  share_descriptors();
}

// Returns how many clients the shared files or actions wait for; 0: nothing waits for all.
size_t ServedClients::expected() const {
  const bool of_all = node_files_ || (actions_ != nullptr && actions_->of_node());
  if (!of_all || members_.empty()) return node_files_ ? static_cast<size_t>(node_files_->config.place.clients) : 0;
  return static_cast<size_t>(members_.begin()->second->config.place.clients);
}

bool ServedClients::expects_more() const {
  return node_files_ && !gave_up_absent_ && came_.size() < static_cast<size_t>(node_files_->config.place.clients);
}

bool ServedClients::waits_for_absent() const {
  if (gave_up_absent_ || came_.size() >= expected()) return false;
  if (actions_ != nullptr && actions_->waits()) return true;
  if (!node_files_) return false;
  const auto closes = [](const auto& entry) { return entry.second->server->is_closing(); };
  return node_files_->files->ended_by_all_here() || (!members_.empty() && all_gone()) ||
         std::any_of(members_.begin(), members_.end(), closes);
}

std::vector<int> ServedClients::here() const {
  std::vector<int> numbers;
  for (const auto& [client, member] : members_) numbers.push_back(client);
  return numbers;
}

bool ServedClients::is_gone(int client) const {
  const auto found = members_.find(client);
  return found == members_.end() || found->second->is_gone();
}

bool ServedClients::all_gone() const {
  return std::all_of(members_.begin(), members_.end(), [](const auto& entry) { return entry.second->is_gone(); });
}

// Returns the numbers of the clients that never came, if the numbers of those that came show the node's range: from 0
// on, or, on node k, from k times their count on.
std::vector<int> ServedClients::absent_numbers() const {
  const auto count = static_cast<int>(expected());
  if (count == 0 || members_.empty()) return {};
  const int on_node = members_.begin()->second->config.place.node * count;
  for (const int first : {0, on_node}) {
    const auto is_outside = [&](int client) { return client < first || client >= first + count; };
    if (std::any_of(came_.begin(), came_.end(), is_outside)) continue;
    std::vector<int> absent;
    for (int client = first; client < first + count; ++client) {
      if (!came_.contains(client)) absent.push_back(client);
    }
    return absent;
  }
  return {};
}

void ServedClients::give_up_absent(const std::string& why) {
  const size_t clients = expected();
  if (gave_up_absent_ || came_.size() >= clients) return;
  ledger_.absent(runs_.times());  // first: a server that replaces this one publishes nothing that waits for them
  gave_up_absent_ = true;
  const std::vector<int> absent = absent_numbers();
  const bool keeps = node_files_ && node_files_->config.place.on_missing == OnMissing::keep;
  Status missing(
      TAILRACE_CLIENTS_MISSING,
      fmt::format("{}: found {} of the {} clients of place.clients (client{} {}), expected all; {}",
                  absent.empty() ? std::string("clients have not come")
                                 : fmt::format("client{} {} {} not come", absent.size() > 1 ? "s" : "",
                                               fmt::join(absent, ", "), absent.size() > 1 ? "have" : "has"),
                  came_.size(), clients, came_.size() > 1 ? "s" : "", fmt::join(came_, ", "),
                  keeps ? "the files of iterations that wait for them stay unpublished" + why
                        : "the files of iterations are published without them" + why));
  log_.warning("{}", missing.fault().message);
  for (auto& [client, member] : members_) member->server->tell(missing);
  if (actions_ != nullptr) actions_->give_up_absent();
  if (node_files_) node_files_->files->give_up_absent(absent);
  for (auto& [client, member] : members_) {
    if (member->stage == ClientRings::Stage::left) member->files->files->abandon();
  }
}

// Room in the engine is also for clients that were served before it became free: nothing else wakes the server for
// them.
//
// Each round looks at every client, also at those that do nothing: their meters share out the time in which transfers
// are under way, whoever's they are, and their counters are the engine's. That costs 0.2 us for each client and round
// (docs/benchmarks.md): 1.5 to 2 ms for an iteration of one client beside 999 idle ones.
void ServedClients::progress() {
  uint32_t room = 0;
  do {
    room = engine_.room();
    accept_again();
    raw_files_.progress();
    if (actions_ != nullptr) actions_->progress();
    drive_engine();
  } while (engine_.room() > room);
  const Engine::Counts counts = engine_.counts();
  for (auto& [client, member] : members_) member->server->report(counts);
}

// Runs the engine once for all clients, until none of them has more to begin.
void ServedClients::drive_engine() {
  const Urgency urgent = urgency();
  bool more = true;
  while (more) {
    engine_.progress(urgent);
    more = false;
    for (auto& [client, member] : members_) more = member->server->begin_more() || more;
  }
}

bool ServedClients::ready() const {
  if (actions_ != nullptr && !actions_->ready()) return false;
  return again_.empty() && engine_.room() >= FileGroup::kRequestsAtOnce;
}

}  // namespace tailrace::impl
