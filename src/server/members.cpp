#include "server/members.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "client/open_iterations.hpp"
#include "server/iteration_limit.hpp"

namespace tailrace::impl {
namespace {

// Returns true for verbs by which a client begins an iteration that it has to end …
bool opens(Verb verb) {
  return verb == Verb::write || verb == Verb::borrow || verb == Verb::signal || verb == Verb::attribute;
}
// … and for those by which it ends one.
bool ends(Verb verb) { return verb == Verb::end_iteration || verb == Verb::drop_iteration; }

}  // namespace

// ---- files --------------------------------------------------------------------------------------------------

Status Members::Files::doubt(int64_t iteration) {
  Status lost;
  members.visit(group, [&](const Member& member) {
    if (!lost.ok() || !member.involved.contains(iteration) || !member.to_client.is_lost()) return;
    lost = Status(TAILRACE_IO_ERROR, fmt::format("client {} has cut its shared memory short", member.number));
  });
  return lost;
}

Members::Files& Members::files_for(Member& member) {
  const bool node = member.config.storage.shares_files();
  std::unique_ptr<Files>& made = node ? node_files_ : member.own;
  if (made) return *made;
  made = std::make_unique<Files>(node ? Ledger::kNode : member.number, member.config, *this);
  const Config& config = made->config;
  made->format = equipment_.make_format(member.number, config);
  FileGroup::Options options;
  options.journal = fmt::format("{}/{}.dropped", config.storage.paths[0], series_of(config, member.number));
  options.journal_end = ledger_.journal_end(made->group);
  options.clients = node ? static_cast<uint32_t>(config.place.clients) : 1;
  options.on_missing = config.place.on_missing;
  made->files = std::make_unique<FileGroup>(config.storage, equipment_.engine, *made->format, *made->log, *made,
                                            std::move(options));
  return *made;
}

// ---- clients ------------------------------------------------------------------------------------------------

Members::Members(Ledger& ledger, Log& log, Equipment equipment)
    : ledger_(ledger), log_(log), equipment_(std::move(equipment)), raw_files_(equipment_.engine) {}

void Members::add(int client, Config config, const Guest& guest, const ClientRings::Stage& stage, bool adopted) {
  auto made = std::make_unique<Member>(client, std::move(config), guest, stage);
  Member& member = *made;
  if (adopted) {
    member.to_client.take_over();
    member.most_begun = IterationTable<>::kMost;  // an earlier server may have told it a higher limit
  }
  member.files = &files_for(member);
  member.server = std::make_unique<Server>(
      member.config, client, member.to_client, equipment_.engine, *member.files->files,
      guest.trace != nullptr ? *guest.trace : member.no_trace, equipment_.crew, guest.shares_memory);
  member.server->serve_files(raw_files_);
  if (equipment_.actions != nullptr) equipment_.actions->join(client, *member.server);
  member.to_client.forget_shared();
  for (const int64_t iteration : common_) member.to_client.begun_by_any(iteration);
  all_[client] = std::move(made);
  came_.insert(client);
  share_descriptors();
}

void Members::dismiss(int client) {
  const auto node = all_.extract(client);
  if (equipment_.actions != nullptr) equipment_.actions->dismiss(client);
  share_descriptors();
}

void Members::note_left(int client) {
  came_.insert(client);
  if (node_files_) node_files_->files->clients().note_gone(client);
  if (equipment_.actions != nullptr) equipment_.actions->note_left(client);
}

// All clients that may come get the same number, so that none uses up the descriptors of another.
void Members::share_descriptors() {
  for (auto& [client, member] : all_) {
    const auto& place = member->config.place;
    const int expected =
        place.clients > 0 ? (place.clients + place.cores - 1) / place.cores : static_cast<int>(equipment_.expected);
    const uint64_t clients = std::max(static_cast<uint64_t>(expected), all_.size());
    uint64_t each = equipment_.descriptors(clients);
    // If all clients share files, a client that is late may begin as many iterations once more.
    if (!member->own) each = std::max(each, each * clients / 2);
    const uint32_t limit = iteration_limit(member->config, each);
    member->most_begun = std::max(member->most_begun, limit);
    member->to_client.set_iteration_limit(limit);
  }
}

Members::Member* Members::find(int client) const {
  const auto found = all_.find(client);
  return found != all_.end() ? found->second.get() : nullptr;
}

void Members::visit(int group, FunctionRef<void(Member& member)> visit) const {
  const bool all = group == Ledger::kNode;
  const auto end = all ? all_.end() : all_.upper_bound(group);
  for (auto at = all ? all_.begin() : all_.lower_bound(group); at != end; ++at) {
    if (at->second->files->group == group) visit(*at->second);
  }
}

bool Members::is_gone(int client) const {
  const Member* const member = find(client);
  return member == nullptr || member->is_gone();
}

bool Members::all_gone() const {
  return std::all_of(all_.begin(), all_.end(), [](const auto& entry) { return entry.second->is_gone(); });
}

// ---- iterations ---------------------------------------------------------------------------------------------

Status Members::Member::check_beginning(const Descriptor& verb) const {
  if (!opens(verb.verb) && verb.verb != Verb::end_iteration) return {};
  const bool is_open = open.contains(verb.iteration);
  if (opens(verb.verb) && !is_open && open.size() >= OpenIterations::kMaxOpen) {
    return Status(TAILRACE_INVALID_ARGUMENT, "it sent too many iterations at once");
  }
  if (begun.contains(verb.iteration) || files->files->iterations().has_left(verb.iteration)) return {};
  // If clients share files, it may join iterations that others have begun.
  const uint32_t most = own ? most_begun : IterationTable<>::kWords;
  if (begun.size() < most) return {};
  return Status(TAILRACE_INVALID_ARGUMENT,
                fmt::format("it sent the beginning of an iteration while {} are unfinished, expected at most {}",
                            begun.size(), most));
}

// In an iteration that has left, nothing waits for others any more, and nothing would ever end the client's part.
void Members::note_iteration(Member& member, const Descriptor& verb) {
  if (opens(verb.verb)) member.open.insert(verb.iteration);
  if (ends(verb.verb)) member.open.erase(verb.iteration);
  if ((!opens(verb.verb) && !ends(verb.verb)) || member.files->files->iterations().has_left(verb.iteration)) return;
  member.involved.insert(verb.iteration);
  if (verb.verb != Verb::drop_iteration) member.begun.insert(verb.iteration);
  if (member.own || !common_.insert(verb.iteration).second) return;
  for (auto& [client, other] : all_) other->to_client.begun_by_any(verb.iteration);
}

// Logs that an iteration has failed if no client is left that could report it.
void Members::note_unwritten(const Files& files, int64_t iteration, const Status& why) {
  const bool is_kept = gave_up_absent_ && files.config.place.on_missing == OnMissing::keep;  // for `recover`
  bool is_told = is_kept || why.code() == TAILRACE_DROPPED;  // the list of dropped iterations says so
  visit(files.group, [&](const Member& member) { is_told = is_told || !member.is_gone(); });
  if (is_told) return;
  Fault fault = why.fault();
  fault.iteration = iteration;
  fault.message = fmt::format("iteration {} is not written, and its clients have gone: {}", iteration, fault.message);
  files.log->error("{}", fault.message);
  if (unwritten_.ok()) unwritten_ = Status(std::move(fault));
}

// Notes that an iteration of a group has left: its members are no longer needed for it, and may begin another one.
void Members::forget_iteration(int group, int64_t iteration) {
  visit(group, [iteration](Member& member) {
    member.involved.erase(iteration);
    member.begun.erase(iteration);
  });
  if (common_.erase(iteration) == 0) return;
  for (auto& [client, member] : all_) member->to_client.left_for_all(iteration);
}

// ---- absent clients -----------------------------------------------------------------------------------------

// Returns how many clients the shared files or actions wait for; 0: nothing waits for all.
size_t Members::expected() const {
  if (node_files_) return static_cast<size_t>(node_files_->config.place.clients);
  const bool of_all = equipment_.actions != nullptr && equipment_.actions->of_node() && !all_.empty();
  return of_all ? static_cast<size_t>(all_.begin()->second->config.place.clients) : 0;
}

bool Members::expects_more() const { return node_files_ && !gave_up_absent_ && came_.size() < expected(); }

bool Members::waits_for_absent() const {
  if (gave_up_absent_ || came_.size() >= expected()) return false;
  if (equipment_.actions != nullptr && equipment_.actions->waits()) return true;
  if (!node_files_) return false;
  const auto closes = [](const auto& entry) { return entry.second->server->is_closing(); };
  return node_files_->files->iterations().ended_by_all_here() || (!all_.empty() && all_gone()) ||
         std::any_of(all_.begin(), all_.end(), closes);
}

// Returns the numbers of the clients that never came, if the numbers of those that came show the node's range: from 0
// on, or, on node k, from k times their count on.
std::vector<int> Members::absent_numbers() const {
  const auto count = static_cast<int>(expected());
  if (count == 0 || all_.empty()) return {};
  const int on_node = all_.begin()->second->config.place.node * count;
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

void Members::give_up_absent(const std::string& why, const RunTimes& run) {
  const size_t clients = expected();
  if (gave_up_absent_ || came_.size() >= clients) return;
  ledger_.absent(run);  // first: a server that replaces this one publishes nothing that waits for them
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
  for (auto& [client, member] : all_) member->server->tell(missing);
  give_up_absent_again();
  for (auto& [client, member] : all_) {
    if (member->stage == ClientRings::Stage::left) member->files->files->abandon();
  }
}

void Members::give_up_absent_again() {
  gave_up_absent_ = true;
  if (equipment_.actions != nullptr) equipment_.actions->give_up_absent();
  if (node_files_) node_files_->files->give_up_absent(absent_numbers());
}

}  // namespace tailrace::impl
