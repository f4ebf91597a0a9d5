#include "publish/file_group.hpp"

#include <fmt/format.h>

#include <utility>

namespace tailrace::impl {

FileGroup::FileGroup(const StorageSettings& storage, Engine& engine, Format& format, Log& log, Witness& witness,
                     Options options)
    : engine_(engine),
      format_(format),
      log_(log),
      witness_(witness),
      clients_(options.clients),
      iterations_(format, clients_, witness),
      files_(storage, engine, format, clients_, iterations_),
      departures_({storage, engine, format, log, witness, clients_, iterations_, files_}, options.on_missing,
                  DropJournal(engine, std::move(options.journal), options.journal_end)) {}

// ---- clients ------------------------------------------------------------------------------------------------------

void FileGroup::leave(GroupMember& member) {
  clients_.leave(member);
  for (auto& [number, iteration] : iterations_.unfinished()) {
    if (iteration.ended.here.erase(&member) > 0) iteration.ended.gone.insert(member.client());
  }
  let_complete_go();
}

// Lets iterations go that are complete now that fewer clients are waited for.
void FileGroup::let_complete_go() {
  std::vector<int64_t> numbers;
  for (const auto& [number, iteration] : iterations_.unfinished()) {
    if (!iteration.leaving) numbers.push_back(number);
  }
  for (const int64_t number : numbers) {
    Iteration& iteration = iterations_.begin(number);
    if (iteration.due || !clients_.complete(iteration.ended)) continue;
    iteration.due = true;
    go_when_free(number);  // there may be many, and room in the engine only for a few
  }
}

void FileGroup::give_up_absent(std::vector<int> clients) {
  clients_.give_up_absent(std::move(clients));
  let_complete_go();
}

void FileGroup::abandon() {
  if (!clients_.all_gone()) return;  // some are here, or are still waited for
  std::vector<int64_t> numbers;
  for (auto& [number, iteration] : iterations_.unfinished()) {
    if (iteration.leaving || iteration.due) continue;  // it has ended, and leaves when nothing holds it
    iteration.due = iteration.abandoned = true;
    numbers.push_back(number);
  }
  for (const int64_t number : numbers) go_when_free(number);
}

// ---- blocks -------------------------------------------------------------------------------------------------------

Result<FileGroup::Place> FileGroup::place(const Block& block) {
  return in_file(block.iteration, format_.place(block));
}

Result<FileGroup::Place> FileGroup::place(const Block& block, const Chunk& chunk) {
  Result<Placement> placement = format_.place_chunks(block, chunk.index, {&chunk.filtered, 1}, chunk.loss);
  if (placement.ok()) witness_.placed(block, chunk.index, chunk.filtered, chunk.loss);
  return in_file(block.iteration, std::move(placement));
}

Result<FileGroup::Place> FileGroup::place_again(const Block& block, const Chunk& chunk) {
  return in_file(block.iteration, format_.place_chunks(block, chunk.index, {&chunk.filtered, 1}, chunk.loss));
}

Result<FileGroup::Place> FileGroup::in_file(int64_t number, Result<Placement> placement) {
  if (!placement.ok()) return placement.status();
  if (Status gone = iterations_.why_unpublished(number); !gone.ok()) return gone;
  TAILRACE_ASSERT(!iterations_.publishing(number));
  const Result<FileId> file = files_.open(number, placement.value().file);
  if (!file.ok()) return file.status();
  return Place{file.value(), std::move(placement.value().extents)};
}

Status FileGroup::hold(int64_t number) {
  if (Status gone = iterations_.why_unpublished(number); !gone.ok()) return gone;
  ++iterations_.begin(number).holds;
  return {};
}

void FileGroup::release(int64_t number) {
  Iteration& iteration = iterations_.begin(number);
  TAILRACE_ASSERT(iteration.holds > 0);
  if (--iteration.holds > 0 || !iteration.due) return;
  go_when_free(number);
}

// ---- ends ---------------------------------------------------------------------------------------------------------

Status FileGroup::note_event(int64_t number, const std::string& event) {
  iterations_.begin(number);
  const Status status = format_.note_event(number, event);
  if (!status.ok()) iterations_.fail(number, status);
  return status;
}

Status FileGroup::note_attribute(const AttributeNote& note) {
  iterations_.begin(note.iteration);
  return format_.note_attribute(note);
}

Status FileGroup::note_finding(int64_t number, const std::string& by, const std::string& name,
                               const FindingValue& value) {
  return format_.begun(number) ? format_.note_finding(number, by, name, value) : Status();
}

void FileGroup::give_up(int64_t number, const std::string& why) {
  const auto found = iterations_.unfinished().find(number);
  if (found == iterations_.unfinished().end() || found->second.leaving || found->second.dropped) return;
  found->second.dropped = true;
  found->second.why_dropped = why;
  log_.info("iteration {} will be dropped: {}", number, why);
}

bool FileGroup::end(GroupMember& member, int64_t number) {
  if (Status gone = iterations_.why_unpublished(number); !gone.ok()) {
    const bool dropped = gone.code() == TAILRACE_DROPPED;
    member.left(number, {.dropped = dropped, .written = false, .status = std::move(gone), .course = {}});
    return true;
  }
  Iteration& iteration = iterations_.begin(number);
  iteration.ended.here.insert(&member);
  if (iteration.due) return true;
  if (!clients_.complete(iteration.ended)) return false;
  let_go(number, iteration);
  return true;
}

// Publishes, removes or closes the iteration, now or when nothing holds it any more. REQUIRES: the engine has room.
void FileGroup::let_go(int64_t number, Iteration& iteration) {
  iteration.due = true;
  if (iteration.holds > 0) return;
  due_.erase(number);
  departures_.begin(number);
}

// Nothing holds the iteration any more: it goes now, or as soon as the engine has room.
void FileGroup::go_when_free(int64_t number) {
  due_.insert(number);
  go_if_free(number);
}

bool FileGroup::progress() {
  const std::vector<int64_t> due(due_.begin(), due_.end());
  bool gone = departures_.progress();
  for (const int64_t number : due) gone = go_if_free(number) || gone;
  return gone;
}

bool FileGroup::go_if_free(int64_t number) {
  Iteration& iteration = iterations_.begin(number);
  if (iteration.holds > 0 || engine_.room() < kRequestsAtOnce) return false;
  let_go(number, iteration);
  return true;
}

void FileGroup::drop(GroupMember& member, int64_t number, std::string why) {
  if (!iterations_.why_unpublished(number).ok()) {
    return member.left(number, {.dropped = true, .written = false, .status = {}, .course = {}});
  }
  Iteration& iteration = iterations_.begin(number);
  iteration.ended.here.insert(&member);
  if (iteration.due) return;
  iteration.dropped = true;
  iteration.why_dropped = std::move(why);
  if (clients_.expected() > 1) iteration.why_dropped += fmt::format(" (client {})", member.client());
  log_.warning("iteration {} is dropped by client {}: {}", number, member.client(), iteration.why_dropped);
  let_go(number, iteration);
}

}  // namespace tailrace::impl
