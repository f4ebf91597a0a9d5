#include "publish/file_group.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <utility>

namespace tailrace::impl {
namespace {

// Returns the status of an iteration's end after one of its blocks was lost. The loss itself was already reported.
Status not_published(const Status& why) {
  Fault fault = why.fault();
  fault.code = TAILRACE_NOT_PUBLISHED;
  fault.operation = "publish";
  fault.message = "its file is not published since something in it failed: " + fault.message;
  return Status(std::move(fault));
}

// Returns why a file with blocks of this node is not there any more: a run that has begun since could not complete
// it.
Status removed_by_others(const Status& why) {
  if (why.fault().system_errno != ENOENT) return why;
  Fault fault = why.fault();
  fault.message +=
      ": the blocks that an earlier server had written are gone with it, since nodes have opened their "
      "next run, and the file lacked the data of others";
  return Status(std::move(fault));
}

}  // namespace

FileGroup::FileGroup(const StorageSettings& storage, Engine& engine, Format& format, Log& log, Witness& witness,
                     Options options)
    : storage_(storage),
      engine_(engine),
      format_(format),
      log_(log),
      witness_(witness),
      on_missing_(options.on_missing),
      clients_(options.clients),
      batches_(engine),
      publisher_(storage, engine, batches_),
      journal_(engine, std::move(options.journal), options.journal_end) {}

// ---- clients ------------------------------------------------------------------------------------------------------

void FileGroup::leave(GroupMember& member) {
  clients_.leave(member);
  for (auto& [number, iteration] : iterations_) {
    if (iteration.ended.here.erase(&member) > 0) iteration.ended.gone.insert(member.client());
  }
  let_complete_go();
}

// Lets iterations go that are complete now that fewer clients are waited for.
void FileGroup::let_complete_go() {
  std::vector<int64_t> numbers;
  for (const auto& [number, iteration] : iterations_) {
    if (!iteration.leaving) numbers.push_back(number);
  }
  for (const int64_t number : numbers) {
    Iteration& iteration = iterations_[number];
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
  for (auto& [number, iteration] : iterations_) {
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
  if (Status gone = ends_.why_unpublished(number); !gone.ok()) return gone;
  Iteration& iteration = iterations_[number];
  TAILRACE_ASSERT(!iteration.leaving);
  const Result<FileId> file = open_file(number, iteration, placement.value().file);
  if (!file.ok()) return file.status();
  return Place{file.value(), std::move(placement.value().extents)};
}

// Opens the file if it is not open. Fails if it is known that the file cannot be written.
Result<FileId> FileGroup::open_file(int64_t number, Iteration& iteration, uint32_t index) {
  if (!iteration.refusal.ok()) return iteration.refusal;
  if (index < iteration.files.size() && iteration.files[index] != 0) return iteration.files[index];
  // A dropped iteration must not keep others from a file of several.
  if (iteration.dropped && !storage_.has_file_each()) return why_ended(number, iteration);
  if (const Status taken = taken_by_another(number, index); !taken.ok()) {
    refuse(number, taken);
    return iteration.refusal;
  }
  if (index >= iteration.files.size()) iteration.files.resize(index + 1);
  const FileId file = open_or_continue(format_.files(number)[index], number);
  iteration.files[index] = file;
  if (!storage_.has_file_each()) iteration.series_file = format_.files(number)[index].final_path;
  return file;
}

// Several iterations may share a file, one after another.
Status FileGroup::taken_by_another(int64_t number, uint32_t index) const {
  if (storage_.has_file_each()) return {};
  const std::string& path = format_.files(number)[index].final_path;
  for (const auto& [other, iteration] : iterations_) {
    if (other == number || iteration.series_file != path) continue;
    return Status(TAILRACE_WRONG_ORDER,
                  fmt::format("iteration {} cannot begin in '{}' while iteration {} is unfinished there, {}: with "
                              "storage.iterations_per_file, every client ends an iteration before any begins another",
                              number, path, other, clients_.describe(iteration.ended)));
  }
  return {};
}

// Returns true if an earlier server has written blocks into the file. If an iteration has several files, nobody knows
// into which of them.
bool FileGroup::must_be_there(const FileNames& names, int64_t number) const {
  const auto resumed = resumed_.find(number);
  const bool has_blocks = resumed != resumed_.end() && resumed->second;
  return has_blocks && (names.joint || format_.files(number).size() == 1);
}

FileId FileGroup::open_or_continue(const FileNames& names, int64_t number) {
  OpenMode mode = OpenMode::fresh;
  if (names.joint || resumed_.contains(number)) mode = OpenMode::own_or_new;
  if (names.is_published() || must_be_there(names, number)) mode = OpenMode::own;
  return engine_.open(names.temporary, mode, names.device, names.final_path);
}

Status FileGroup::open_all(int64_t number, Iteration& iteration) {
  if (!format_.begun(number)) return iteration.refusal;
  Status status;
  for (uint32_t index = 0; index < format_.files(number).size() && status.ok(); ++index) {
    status = open_file(number, iteration, index).status();
  }
  return status;
}

void FileGroup::fail(int64_t number, const Status& why) {
  if (!ends_.why_unpublished(number).ok()) return;
  Iteration& iteration = iterations_[number];
  if (!iteration.failure.ok()) return;
  const bool is_joint = format_.begun(number) && format_.files(number)[0].joint;
  const bool gone = is_joint && must_be_there(format_.files(number)[0], number);
  const Status status = gone ? removed_by_others(why) : why;
  iteration.failure = status;  // if it is already leaving, the engine knows, and does not publish it
  witness_.failed(number, status);
}

void FileGroup::refuse(int64_t number, const Status& why) {
  fail(number, why);
  if (const auto found = iterations_.find(number); found != iterations_.end()) found->second.refusal = why;
}

Status FileGroup::hold(int64_t number) {
  if (Status gone = ends_.why_unpublished(number); !gone.ok()) return gone;
  ++iterations_[number].holds;
  return {};
}

void FileGroup::release(int64_t number) {
  Iteration& iteration = iterations_[number];
  TAILRACE_ASSERT(iteration.holds > 0);
  if (--iteration.holds > 0 || !iteration.due) return;
  go_when_free(number);
}

Status FileGroup::writable(int64_t number) const {
  return leaving(number) ? why_ended(number, iterations_.at(number)) : ends_.writable(number);
}

std::optional<FileId> FileGroup::unfinished_file(int64_t number, uint32_t index) const {
  const auto iteration = iterations_.find(number);
  if (iteration == iterations_.end() || index >= iteration->second.files.size()) return std::nullopt;
  const FileId file = iteration->second.files[index];
  return file != 0 ? std::optional(file) : std::nullopt;
}

// ---- ends ---------------------------------------------------------------------------------------------------------

Status FileGroup::note_event(int64_t number, const std::string& event) {
  iterations_.try_emplace(number);
  const Status status = format_.note_event(number, event);
  if (!status.ok()) fail(number, status);
  return status;
}

Status FileGroup::note_attribute(const AttributeNote& note) {
  begin(note.iteration);
  return format_.note_attribute(note);
}

Status FileGroup::note_finding(int64_t number, const std::string& by, const std::string& name,
                               const FindingValue& value) {
  return format_.begun(number) ? format_.note_finding(number, by, name, value) : Status();
}

void FileGroup::give_up(int64_t number, const std::string& why) {
  const auto found = iterations_.find(number);
  if (found == iterations_.end() || found->second.leaving || found->second.dropped) return;
  found->second.dropped = true;
  found->second.why_dropped = why;
  log_.info("iteration {} will be dropped: {}", number, why);
}

Status FileGroup::why_no_file(int64_t number) const {
  if (Status gone = ends_.why_unpublished(number); !gone.ok()) return gone;
  const auto found = iterations_.find(number);
  if (found == iterations_.end() || !found->second.expects_blocks || format_.begun(number)) return {};
  return Status(TAILRACE_NOT_FOUND,
                fmt::format("read: iteration {} has begun, and no block of it is in its file yet", number));
}

bool FileGroup::leaving(int64_t number) const {
  const auto found = iterations_.find(number);
  return found != iterations_.end() && found->second.due;
}

std::optional<int64_t> FileGroup::ended_by_all_here() const {
  for (const auto& [number, iteration] : iterations_) {
    const bool by_all = iteration.ended.here.size() == clients_.here().size();
    if (iteration.ended.any() && !iteration.due && by_all) return number;
  }
  return std::nullopt;
}

bool FileGroup::publishing(int64_t number) const {
  const auto found = iterations_.find(number);
  return found != iterations_.end() && found->second.leaving;
}

bool FileGroup::given_up(int64_t number) const {
  const auto found = iterations_.find(number);
  return found != iterations_.end() && found->second.dropped;
}

// Says which clients have ended the iteration and which are missing: a client that comes too late may know neither.
Status FileGroup::why_ended(int64_t number, const Iteration& iteration) const {
  if (iteration.dropped) {
    return Status(TAILRACE_DROPPED, fmt::format("iteration {} was dropped: {}", number, iteration.why_dropped));
  }
  return Status(TAILRACE_WRONG_ORDER, fmt::format("iteration {} has ended, {}: nothing can be added to it any more",
                                                  number, clients_.describe(iteration.ended)));
}

Status FileGroup::failure(int64_t number) const {
  const auto found = iterations_.find(number);
  return found != iterations_.end() ? found->second.failure : Status();
}

bool FileGroup::end(GroupMember& member, int64_t number) {
  if (Status gone = ends_.why_unpublished(number); !gone.ok()) {
    const bool dropped = gone.code() == TAILRACE_DROPPED;
    member.left(number, {.dropped = dropped, .written = false, .status = std::move(gone), .course = {}});
    return true;
  }
  Iteration& iteration = iterations_[number];
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
  if (iteration.abandoned) {
    close(number, iteration);
  } else if (iteration.dropped) {
    remove(number, iteration);
  } else {
    publish(number, iteration);
  }
}

// Nothing holds the iteration any more: it goes now, or as soon as the engine has room.
void FileGroup::go_when_free(int64_t number) {
  due_.insert(number);
  go_if_free(number);
}

bool FileGroup::progress() {
  const std::vector<int64_t> due(due_.begin(), due_.end());
  bool gone = publisher_.progress();
  for (const int64_t number : due) gone = go_if_free(number) || gone;
  return gone;
}

bool FileGroup::go_if_free(int64_t number) {
  Iteration& iteration = iterations_[number];
  if (iteration.holds > 0 || engine_.room() < kRequestsAtOnce) return false;
  let_go(number, iteration);
  return true;
}

// Returns why the file of an iteration is whole and has no name (place.on_missing: keep).
Status FileGroup::kept_for_absent(const FileNames& names) const {
  Fault fault;
  fault.code = TAILRACE_NOT_PUBLISHED;
  fault.operation = "publish";
  fault.file = names.temporary;
  fault.message = fmt::format(
      "{} of the {} clients of place.clients never came, and place.on_missing is keep: the data of "
      "the others are in '{}', which 'tailrace recover' publishes",
      clients_.absent(), clients_.expected(), names.temporary);
  return Status(std::move(fault));
}

void FileGroup::publish(int64_t number, Iteration& iteration) {
  const bool begun =
      iteration.opened() || !iteration.failure.ok() || format_.begun(number) || format_.begin_empty(number);
  if (!begun) return depart(number, {});  // no block was handed over
  if (Status opened = open_all(number, iteration); !opened.ok()) fail(number, opened);
  iteration.leaving = true;
  const Status failed = iteration.failure.ok() ? Status() : not_published(iteration.failure);
  if (!iteration.opened()) {
    format_.discard(number);
    return end_unwritten(number, failed, {});
  }
  const std::vector<FileNames> names = format_.files(number);  // the format forgets them when it has finished
  note_missing(number, iteration);
  Result<PublicationPlan> plan = format_.finish(number);
  const Status status = failed.ok() ? plan.status() : failed;
  if (!status.ok()) {
    const auto then = [this, number, status](const Batches::End& end) {
      format_.ended(number, false);
      end_unwritten(number, status, end.course);
    };
    return batches_.run(for_each_open(number, iteration, Operation::close), then);
  }
  Publication publication{
      std::move(plan).value(), {}, FileEnd::published, phase_of(number), [this, number] { return doubt(number); }};
  for (size_t i = 0; i < names.size(); ++i) publication.files.push_back({names[i], iteration.files[i], true});
  const bool kept = clients_.absent() > 0 && on_missing_ == OnMissing::keep;
  if (kept) publication.end = FileEnd::kept;
  publisher_.publish(std::move(publication), [this, number, kept, first = names.front()](const Publisher::End& end) {
    format_.ended(number, end.visible);
    if (kept && end.how.status.ok()) return end_kept(number, kept_for_absent(first), end.how.course);
    if (!end.visible) return end_unwritten(number, end.how.status, end.how.course);
    complete(number, [this, number, first = end.how](Batches::End how, bool visible) {
      how.add(first.status, first.course);
      if (!visible) return end_unwritten(number, how.status, how.course);
      ends_.add_published(number);  // if only its name is not durable, the file exists all the same
      depart(number, {.dropped = false, .written = true, .status = how.status, .course = how.course});
    });
  });
}

// Returns why the iteration must not be published although its plan goes well. A block that failed meanwhile may be
// in a file that others publish.
Status FileGroup::doubt(int64_t number) const {
  const Status doubt = witness_.doubt(number);
  const auto found = iterations_.find(number);
  const Status why = doubt.ok() && found != iterations_.end() ? found->second.failure : doubt;
  return why.ok() ? why : not_published(why);
}

// Completes the file of several nodes if this one was the last of them. Calls `then` when that has ended, or if there
// is nothing to complete.
void FileGroup::complete(int64_t number, const Completed& then) {
  Result<std::optional<JointPublication>> found = format_.complete(number);
  if (!found.ok()) return then_if_completed(number, {found.status(), {}}, then);
  if (!found.value()) {
    (void)format_.is_complete(number);  // whoever completed it may have died before it removed the nodes' parts
    return then({}, true);
  }
  Publication publication{std::move(found.value()->plan), {}, FileEnd::published, phase_of(number), {}};
  publication.doubt = [this, number] { return doubt(number); };
  for (const FileNames& names : found.value()->files) {
    const OpenMode mode = names.joint ? OpenMode::own : OpenMode::fresh;
    const FileId file = engine_.open(names.temporary, mode, names.device, names.final_path);
    publication.files.push_back({names, file, true});
  }
  publisher_.publish_when_free(std::move(publication), [this, number, then](const Publisher::End& end) {
    if (!end.visible) return then_if_completed(number, end.how, then);
    (void)format_.is_complete(number);  // it removes the nodes' parts
    then(end.how, true);
  });
}

// Another node may have completed the file meanwhile.
void FileGroup::then_if_completed(int64_t number, const Batches::End& how, const Completed& then) {
  if (format_.is_complete(number)) return then({{}, how.course}, true);
  then(how, false);
}

void FileGroup::note_missing(int64_t number, const Iteration& iteration) {
  const std::vector<int> missing = clients_.missing(iteration.ended);
  if (!missing.empty() || clients_.unnamed() > 0) format_.note_missing(number, missing, clients_.unnamed());
  tell_missing(number, missing);
}

// Tells the clients that are here of those that have gone, once of each. give_up_absent() is told of those that never
// came.
void FileGroup::tell_missing(int64_t number, const std::vector<int>& missing) {
  std::vector<int> news;
  for (const int client : missing) {
    if (clients_.has_gone(client) && told_missing_.insert(client).second) news.push_back(client);
  }
  if (news.empty()) return;
  const bool one = news.size() == 1;
  const Status status(
      TAILRACE_CLIENTS_MISSING,
      fmt::format(
          "iteration {} has ended without client{} {}, which {} gone before: the file says so, and what nobody has "
          "written reads as its fill_value, or without one as NaN (0 in integers)",
          number, one ? "" : "s", fmt::join(news, ", "), one ? "has" : "have"));
  log_.warning("{}", status.fault().message);
  for (GroupMember* const member : clients_.here()) member->tell(status);
}

// Ends an iteration in which something has failed, after its files were closed.
void FileGroup::end_unwritten(int64_t number, const Status& why, const Request::Course& course) {
  fail(number, why);
  end_kept(number, why, course);
}

// Ends an iteration whose files did not get their names.
void FileGroup::end_kept(int64_t number, const Status& why, const Request::Course& course) {
  ends_.add_unpublished(number, why);
  depart(number, {.dropped = false, .written = true, .status = why, .course = course});
}

void FileGroup::drop(GroupMember& member, int64_t number, std::string why) {
  if (!ends_.why_unpublished(number).ok()) {
    return member.left(number, {.dropped = true, .written = false, .status = {}, .course = {}});
  }
  Iteration& iteration = iterations_[number];
  iteration.ended.here.insert(&member);
  if (iteration.due) return;
  iteration.dropped = true;
  iteration.why_dropped = std::move(why);
  if (clients_.expected() > 1) iteration.why_dropped += fmt::format(" (client {})", member.client());
  log_.warning("iteration {} is dropped by client {}: {}", number, member.client(), iteration.why_dropped);
  let_go(number, iteration);
}

// Records that there was such an iteration, and then removes its files.
void FileGroup::remove(int64_t number, Iteration& iteration) {
  // A file that has been published has other iterations; a joint one has bytes of other nodes.
  const bool stays =
      iteration.opened() && (format_.files(number)[0].is_published() || format_.files(number)[0].joint);
  format_.discard(number);
  iteration.leaving = true;
  std::vector<Request> requests = for_each_open(number, iteration, stays ? Operation::close : Operation::remove);
  const auto line = journal_.add(number, iteration.why_dropped, requests);
  batches_.run(std::move(requests), [this, number, line](const Batches::End& end) {
    // Before the ledger strikes it out, so that the line is not overwritten.
    if (end.status.ok()) witness_.journaled(line->end);
    ends_.add_unpublished(number, why_ended(number, iterations_.at(number)));
    depart(number, {.dropped = true, .written = false, .status = end.status, .course = end.course});
  });
}

// Leaves the iteration's files as they are.
void FileGroup::close(int64_t number, Iteration& iteration) {
  format_.discard(number);
  iteration.leaving = true;
  batches_.run(for_each_open(number, iteration, Operation::close), [this, number](const Batches::End&) {
    iterations_.erase(number);
    resumed_.erase(number);
    witness_.left(number);
  });
}

std::vector<Request> FileGroup::for_each_open(int64_t number, const Iteration& iteration, Operation operation) const {
  std::vector<Request> requests;
  for (const FileId file : iteration.files) {
    if (file == 0) continue;
    Request request;
    request.operation = operation;
    request.file = file;
    if (operation == Operation::close) request.phase = phase_of(number);
    requests.push_back(std::move(request));
  }
  return requests;
}

// Reports that the iteration's file has left: reads that waited for that use the published one.
void FileGroup::depart(int64_t number, const Departure& how) {
  const auto node = iterations_.extract(number);
  TAILRACE_ASSERT(!node.empty());
  resumed_.erase(number);
  const GroupClients::Members& ended = node.mapped().ended.here;
  const GroupClients::Members& here = clients_.here();
  const std::vector<GroupMember*> all(here.begin(), here.end());  // a member may leave when it hears this
  for (GroupMember* member : all) {
    if (ended.contains(member)) {
      member->left(number, how);
    } else {
      member->gone(number);
    }
  }
  // After the members, since no other server will report it to them.
  if (const Status without_file = ends_.why_unpublished(number); !without_file.ok()) {
    return witness_.unpublished(number, without_file);
  }
  witness_.left(number);
}

// ---- taking over from an earlier server ------------------------------------------------------------------

// The file's device need not be known: all directories are synced. In a file of several iterations, the write that
// showed this one may not be durable either.
void FileGroup::complete_publication(int64_t number) {
  if (storage_.durability != Durability::durable) return complete_again(number);
  std::vector<Publisher::Synced> synced;
  for (const std::string& path : storage_.paths) {
    synced.push_back({path, static_cast<uint32_t>(synced.size())});
  }
  const std::optional<FileNames> file = storage_.has_file_each() ? std::nullopt : format_.published(number);
  if (file) synced.push_back({file->final_path, file->device, OpenMode::own});
  ++completing_;
  publisher_.sync(synced, [this, number](const Batches::End& end) {
    --completing_;
    if (!end.status.ok()) {
      Fault fault = end.status.fault();
      fault.iteration = number;
      fault.message = "the file of the iteration has its name, which may not be durable: " + fault.message;
      const Status failure(std::move(fault));
      for (GroupMember* member : clients_.here()) member->tell(failure);
    }
    complete_again(number);
  });
}

// The earlier server may have been the last of several nodes.
void FileGroup::complete_again(int64_t number) {
  ++completing_;
  complete(number, [this, number](const Batches::End& end, bool visible) {
    --completing_;
    if (!visible) {
      const Status failure = not_published(end.status);
      for (GroupMember* member : clients_.here()) member->tell(failure);
    }
    witness_.left(number);
  });
}

}  // namespace tailrace::impl
