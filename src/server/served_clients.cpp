#include "server/served_clients.hpp"

#include <algorithm>

namespace tailrace::impl {
namespace {

// How many reads, flushes, settings of parameters and verbs about raw files the ledger keeps before those that no
// longer matter are struck out. At least as many as there were other records, or the server would do nothing but
// search for them.
constexpr size_t kPassingKept = 256;

}  // namespace

ServedClients::ServedClients(Ledger& ledger, Log& log, RunWatch& runs, Members::Equipment equipment)
    : ledger_(ledger), runs_(runs), members_(ledger, log, std::move(equipment)), replay_(members_, ledger) {}

// ---- clients come and go --------------------------------------------------------------------------------------

void ServedClients::begin(int client, Config config, const Guest& guest, bool adopted) {
  const uint64_t accepted = adopted ? ledger_.last_sequence(client) : 0;
  const ClientRings::Stage& stage = rings_.add(client, guest.channel, guest.server_asleep, accepted);
  members_.add(client, std::move(config), guest, stage, adopted);
}

void ServedClients::leave(int client) {
  Members::Member& member = members_.at(client);
  ServerActions* const actions = members_.equipment().actions;
  const bool counted = actions != nullptr && actions->of_node();
  if (member.files->group == Ledger::kNode || counted) ledger_.gone(client, runs_.times());
  if (actions != nullptr) actions->leave(client);
  member.server->leave();
  member.files->files->abandon();
}

// If clients share files, others may still have to end an iteration that this client takes part in. If another server
// has to go on, it needs the client's segment to know what has been written.
bool ServedClients::released(int client) const {
  const Members::Member& member = members_.at(client);
  const ServerActions* const actions = members_.equipment().actions;
  if (actions != nullptr && !actions->released(client)) return false;
  return member.own ? member.files->files->idle() : member.involved.empty();
}

void ServedClients::dismiss(int client) {
  members_.dismiss(client);
  if (passing_ > 0) strike_out_passing();  // the ledger is about to be rewritten, with as few records as possible
  ledger_.forget(client);
}

// ---- verbs of clients ---------------------------------------------------------------------------------------

Status ServedClients::check(int client, const Descriptor& descriptor) const {
  const Members::Member& member = members_.at(client);
  const Status valid = member.server->check(descriptor);
  return valid.ok() ? member.check_beginning(descriptor) : valid;
}

void ServedClients::accept(int client, const Descriptor& descriptor) {
  Members::Member& member = members_.at(client);
  members_.note_iteration(member, descriptor);
  ledger_.accepted(client, descriptor);
  if (descriptor.verb == Verb::write) {
    ServerCounters& counters = member.to_client.counters();
    counters.blocks_accepted.add();
    counters.bytes_accepted.add(descriptor.bytes.length);
  }
  if (Replay::is_passing(descriptor.verb) && ++passing_ >= passing_kept_) strike_out_passing();
  member.server->accept(descriptor);
}

// Strikes out the verbs of which no later server needs to know. The file_open of a raw file is needed until the file
// is closed.
void ServedClients::strike_out_passing() {
  passing_ = 0;
  ledger_.settle([this](int client, const Descriptor& verb) {
    const Members::Member* const member = members_.find(client);
    if (member == nullptr) return true;
    if (gives_file_block(verb.verb) || verb.verb == Verb::file_open) return member->server->has_ended(verb);
    return !member->to_client.is_pending(verb.ticket);
  });
  passing_kept_ = std::max(kPassingKept, ledger_.records().size());
}

bool ServedClients::has_room() const {
  return replay_.over() && members_.equipment().engine.room() >= FileGroup::kRequestsAtOnce;
}

bool ServedClients::ready() const {
  const ServerActions* const actions = members_.equipment().actions;
  return has_room() && (actions == nullptr || actions->ready());
}

// Room in the engine is also for clients that were served before it became free: nothing else wakes the server for
// them.
//
// Each round looks at every client, also at those that do nothing: their meters share out the time in which transfers
// are under way, of any client, and their counters are the engine's. That costs 0.2 us for each client and round
// (docs/benchmarks.md): 1.5 to 2 ms for an iteration of one client beside 999 idle ones.
void ServedClients::progress() {
  const Members::Equipment& equipment = members_.equipment();
  uint32_t room = 0;
  do {
    room = equipment.engine.room();
    replay_.progress();
    members_.raw_files().progress();
    if (equipment.actions != nullptr) equipment.actions->progress();
    const Urgency urgent = urgency();
    for (bool more = true; more;) {
      equipment.engine.progress(urgent);
      more = false;
      for (const auto& [client, member] : members_.all()) more = member->server->begin_more() || more;
    }
  } while (equipment.engine.room() > room || replay_.may_go_on());
  const Engine::Counts counts = equipment.engine.counts();
  for (const auto& [client, member] : members_.all()) member->server->report(counts);
}

Urgency ServedClients::urgency() const {
  if (!has_room()) return Urgency::waiting;
  Urgency most = Urgency::none;
  for (const auto& [client, member] : members_.all()) most = std::max(most, member->urgency());
  return most;
}

}  // namespace tailrace::impl
