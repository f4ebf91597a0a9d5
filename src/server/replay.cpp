#include "server/replay.hpp"

#include <map>
#include <set>

#include "server/server.hpp"

namespace tailrace::impl {

bool Replay::is_passing(Verb verb) {
  return verb == Verb::read || is_flush(verb) || verb == Verb::parameter || is_of_file(verb);
}

void Replay::begin() {
  note_earlier_clients();
  if (members_.shared() != nullptr) resume(*members_.shared(), ledger_.records().copy());
  std::map<int, std::vector<LedgerRecord>> records;  // by client
  for (const LedgerRecord& record : ledger_.records()) records[record.client].push_back(record);
  for (const auto& [client, member] : members_.all()) {
    if (member->own) resume(*member->own, records[client]);
  }
  for (const LedgerRecord& record : ledger_.records()) {
    const bool again = record.kind == LedgerRecord::Kind::accepted || record.kind == LedgerRecord::Kind::placed;
    if (again && members_.find(record.client) != nullptr && !is_published(record)) again_.push_back(record);
  }
  has_begun_ = true;
  FilterCrew* const crew = members_.equipment().crew;
  if (crew != nullptr) crew->pause(true);  // new places come after all the old ones
}

// Notes the clients that, as the earlier server knew, have left, and whether it had given up the absent ones.
void Replay::note_earlier_clients() {
  bool gave_up = false;
  for (const LedgerRecord& record : ledger_.records()) {
    if (record.kind == LedgerRecord::Kind::absent) gave_up = true;
    // A client that has gone and is still a member, since not all of its data are published, will leave again.
    const bool has_gone = record.kind == LedgerRecord::Kind::gone && members_.find(record.client) == nullptr;
    if (has_gone) members_.note_left(record.client);
  }
  if (gave_up) members_.give_up_absent_again();
}

// Returns true if a record belongs to an iteration that an earlier server has published, so that it must not be
// repeated.
bool Replay::is_published(const LedgerRecord& record) const {
  const bool passing = record.kind == LedgerRecord::Kind::accepted && is_passing(record.descriptor.verb);
  return !passing && members_.at(record.client).files->published.contains(record.iteration);
}

// `records`: at least those of the files' clients.
void Replay::resume(Members::Files& files, const std::vector<LedgerRecord>& records) {
  struct Seen {
    std::set<int> ended;
    bool dropped = false;
    bool all_written = true;
    bool some_written = false;
    bool has_bytes = false;  // in its files
  };
  for (const LedgerRecord& record : records) {
    if (record.kind != LedgerRecord::Kind::unpublished || record.client != files.group) continue;
    files.files->iterations().add_unpublished(record.iteration, Ledger::failure_of(record));
  }
  std::map<int64_t, Seen> iterations;
  std::map<int64_t, Status> failures;
  std::set<int> gone;
  for (const LedgerRecord& record : records) {
    if (record.kind == LedgerRecord::Kind::gone && files.has(record.client)) gone.insert(record.client);
    if (record.kind == LedgerRecord::Kind::failed && record.client == files.group) {
      failures[record.iteration] = Ledger::failure_of(record);
    }
    Members::Member* const member = members_.find(record.client);
    if (record.kind != LedgerRecord::Kind::accepted || member == nullptr || !files.has(record.client)) continue;
    const Descriptor& verb = record.descriptor;
    if (is_passing(verb.verb)) continue;
    Seen& seen = iterations[record.iteration];
    members_.note_iteration(*member, verb);
    if (verb.verb == Verb::end_iteration || verb.verb == Verb::drop_iteration) {
      seen.ended.insert(record.client);
      seen.dropped = seen.dropped || verb.verb == Verb::drop_iteration;
    }
    if (verb.verb != Verb::write) continue;
    const bool written = member->server->has_ended(verb);
    seen.some_written = seen.some_written || written;
    seen.has_bytes = seen.has_bytes || (written && verb.bytes.length > 0);
    seen.all_written = seen.all_written && written;
  }
  size_t clients = files.group == Ledger::kNode ? static_cast<size_t>(files.config.place.clients) : 1;
  if (files.group == Ledger::kNode && members_.gave_up_absent()) clients = members_.came().size();
  for (const auto& [iteration, seen] : iterations) {
    std::set<int> done = seen.ended;
    done.insert(gone.begin(), gone.end());
    // An iteration that was dropped is dropped again: a file of its name belongs to an earlier run.
    // An iteration without blocks may have such a file, unless no file can get another one of its number, or each
    // node publishes a part of its own.
    const bool tells = !files.config.storage.has_file_each() || files.config.nodes_share_files();
    const bool in_it = may_be_in_file(seen.some_written, seen.all_written, tells);
    const bool whole = !seen.dropped && done.size() >= clients && in_it;
    // The earlier server died between the rename and the ledger's record of it.
    if (whole && !failures.contains(iteration) && files.format->published(iteration)) {
      files.published.insert(iteration);
      // It died before its clients knew that they may begin others.
      members_.visit(files.group, [iteration](Members::Member& member) { member.to_client.give_room(iteration); });
      files.files->complete_publication(iteration);
      continue;
    }
    // A block that has failed, is empty, or came to a dropped iteration has ended, too, and its file need not exist.
    files.files->iterations().resume(iteration, seen.has_bytes && !seen.dropped && !failures.contains(iteration));
    if (files.files->hold(iteration).ok()) held_.emplace_back(files.files.get(), iteration);
  }
  for (const auto& [iteration, why] : failures) files.files->iterations().fail(iteration, why);
}

bool Replay::may_go_on() const {
  return !over() && !members_.raw_files().is_busy() &&
         members_.equipment().engine.room() >= FileGroup::kRequestsAtOnce;
}

void Replay::progress() {
  const Members::Equipment& equipment = members_.equipment();
  while (!again_.empty() && may_go_on()) {
    const LedgerRecord record = again_.front();
    again_.pop_front();
    repeat(record);
  }
  if (!again_.empty() || members_.raw_files().is_busy() || !std::exchange(has_begun_, false)) return;
  for (const auto& [files, iteration] : std::exchange(held_, {})) files->release(iteration);
  if (equipment.crew != nullptr) equipment.crew->pause(false);
  for (const auto& [client, member] : members_.all()) member->server->end_again();
  if (equipment.actions != nullptr) equipment.actions->taken_up();
}

void Replay::repeat(const LedgerRecord& record) {
  Members::Member* const member = members_.find(record.client);
  if (member == nullptr) return;
  if (record.kind == LedgerRecord::Kind::accepted) return member->server->accept_again(record.descriptor);
  // A place of an iteration that was taken for published is not here: it was struck out with that iteration.
  const Ledger::Placed placed = Ledger::placed_by(record);
  member->server->place_again(placed.block, {placed.index, placed.chunk, placed.loss});
}

}  // namespace tailrace::impl
