#include "publish/file_group.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <utility>

namespace tailrace::impl {
namespace {

constexpr size_t kUnpublishedRemembered = 4096;  // iterations

// Returns the status of an iteration's end after one of its blocks was lost. The loss itself has been reported.
Status not_published(const Status& why) {
  Fault fault = why.fault();
  fault.code = TAILRACE_NOT_PUBLISHED;
  fault.operation = "publish";
  fault.message = "its file is not published since something in it failed: " + fault.message;
  return Status(std::move(fault));
}

const char* clients(size_t count) { return count == 1 ? "client" : "clients"; }

}  // namespace

FileGroup::FileGroup(const Config& config, Engine& engine, Format& format, Log& log, Options options)
    : config_(config),
      engine_(engine),
      format_(format),
      log_(log),
      options_(std::move(options)),
      journal_end_(options_.journal_end) {}

void FileGroup::join(Member& member, int client) {
  members_.insert(&member);
  gone_.erase(client);
}

void FileGroup::leave(Member& member, int client) {
  TAILRACE_REQUIRE(members_.erase(&member) == 1);
  note_gone(client);
  for (auto& [number, iteration] : iterations_) {
    if (iteration.ended.erase(&member) > 0) iteration.ended_by_gone.insert(client);
  }
  let_complete_go();
}

// After fewer clients are waited for.
void FileGroup::let_complete_go() {
  std::vector<int64_t> numbers;
  for (const auto& [number, iteration] : iterations_) {
    if (!iteration.leaving) numbers.push_back(number);
  }
  for (const int64_t number : numbers) {
    Iteration& iteration = iterations_[number];
    if (iteration.due || !complete(iteration)) continue;
    iteration.due = true;
    go_when_free(number);  // there may be many, and room in the engine for few
  }
}

uint32_t FileGroup::yet_to_come() const {
  const size_t here_or_not_awaited = members_.size() + gone_.size() + absent_;
  return options_.clients > here_or_not_awaited ? options_.clients - static_cast<uint32_t>(here_or_not_awaited) : 0;
}

void FileGroup::give_up_absent(std::vector<int> clients) {
  absent_ += yet_to_come();
  absent_numbers_ = std::move(clients);
  let_complete_go();
}

void FileGroup::abandon() {
  if (!members_.empty() || gone_.size() + absent_ < options_.clients) return;  // some have yet to come
  std::vector<int64_t> numbers;
  for (auto& [number, iteration] : iterations_) {
    if (iteration.leaving || iteration.due) continue;  // it has been ended, and leaves when nobody holds it
    iteration.due = iteration.abandoned = true;
    numbers.push_back(number);
  }
  for (const int64_t number : numbers) go_when_free(number);
}

// Leaves what was written of it as it is.
void FileGroup::close(int64_t number, Iteration& iteration) {
  format_.discard(number);
  iteration.leaving = true;
  const WorkId id = new_work(Kind::abandonment, number);
  if (!iteration.opened) return end_work(id);
  Request close;
  close.operation = Operation::close;
  close.file = iteration.file;
  submit(id, std::move(close));
}

void FileGroup::note_gone(int client) { gone_.insert(client); }

// Clients that have gone before they ended the iteration, or never came.
std::vector<int> FileGroup::missing_in(const Iteration& iteration) const {
  std::vector<int> missing;
  for (const int client : gone_) {
    if (!iteration.ended_by_gone.contains(client)) missing.push_back(client);
  }
  missing.insert(missing.end(), absent_numbers_.begin(), absent_numbers_.end());
  std::sort(missing.begin(), missing.end());
  return missing;
}

// Returns true if every client has ended the iteration. A client that has left counts as one that has ended it; but
// an iteration that no client has ended is not whole.
bool FileGroup::complete(const Iteration& iteration) const {
  return iteration.ended.size() + iteration.ended_by_gone.size() > 0 &&
         iteration.ended.size() + gone_.size() + absent_ >= options_.clients;
}

Result<FileId> FileGroup::file(int64_t number) {
  if (const auto found = unpublished_.find(number); found != unpublished_.end()) return found->second;
  Iteration& iteration = iterations_[number];
  TAILRACE_ASSERT(!iteration.leaving);
  if (Status status = open_file(number, iteration); !status.ok()) return status;
  return iteration.file;
}

void FileGroup::fail(int64_t number, const Status& why) {
  if (unpublished_.contains(number)) return;
  Iteration& iteration = iterations_[number];
  if (!iteration.failure.ok()) return;
  iteration.failure = why;  // if it is leaving, the engine knows already, and does not publish
  if (options_.witness != nullptr) options_.witness->failed(number, why);
}

void FileGroup::refuse(int64_t number, const Status& why) {
  fail(number, why);
  if (const auto found = iterations_.find(number); found != iterations_.end()) found->second.refusal = why;
}

void FileGroup::resume(int64_t number, bool written) { resumed_[number] = written; }

Status FileGroup::note_event(int64_t number, const std::string& event) {
  iterations_.try_emplace(number);
  const Status status = format_.note_event(number, event);
  if (!status.ok()) fail(number, status);
  return status;
}

Status FileGroup::note_finding(int64_t number, const std::string& name, const FindingValue& value) {
  return format_.begun(number) ? format_.note_finding(number, name, value) : Status();
}

void FileGroup::give_up(int64_t number, const std::string& why) {
  const auto found = iterations_.find(number);
  if (found == iterations_.end() || found->second.leaving || found->second.dropped) return;
  found->second.dropped = true;
  found->second.why_dropped = why;
  log_.info("iteration {} will be dropped: {}", number, why);
}

bool FileGroup::leaving(int64_t number) const {
  const auto found = iterations_.find(number);
  return found != iterations_.end() && found->second.due;
}

std::optional<int64_t> FileGroup::ended_by_all_here() const {
  for (const auto& [number, iteration] : iterations_) {
    const bool by_any = iteration.ended.size() + iteration.ended_by_gone.size() > 0;
    if (by_any && !iteration.due && iteration.ended.size() == members_.size()) return number;
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

Status FileGroup::writable(int64_t number) const {
  if (leaving(number)) return why_ended(number, iterations_.at(number));
  if (published_.contains(number)) {
    return Status(
        TAILRACE_WRONG_ORDER,
        fmt::format("the file of iteration {} has been published already: nothing can be added to it", number));
  }
  const auto found = unpublished_.find(number);
  return found == unpublished_.end() ? Status() : found->second;
}

// By whom, and without whom: the one that comes too late may know of neither.
Status FileGroup::why_ended(int64_t number, const Iteration& iteration) const {
  if (iteration.dropped) {
    return Status(TAILRACE_DROPPED, fmt::format("iteration {} was dropped: {}", number, iteration.why_dropped));
  }
  std::set<int> by = iteration.ended_by_gone;
  for (const Member* const member : iteration.ended) by.insert(member->client());
  std::string who = by.empty() ? "by nobody" : fmt::format("by {} {}", clients(by.size()), fmt::join(by, ", "));
  if (const std::vector<int> missing = missing_in(iteration); !missing.empty()) {
    who += fmt::format(", and without {} {}, gone before or never here", clients(missing.size()),
                       fmt::join(missing, ", "));
  }
  return Status(TAILRACE_WRONG_ORDER,
                fmt::format("iteration {} has ended, {}: nothing can be added to it any more", number, who));
}

Status FileGroup::failure(int64_t number) const {
  const auto found = iterations_.find(number);
  return found != iterations_.end() ? found->second.failure : Status();
}

Result<FileId> FileGroup::unfinished_file(int64_t number, bool& found) const {
  found = false;
  const auto iteration = iterations_.find(number);
  if (iteration != iterations_.end() && iteration->second.opened) {
    found = true;
    return iteration->second.file;
  }
  const auto unpublished = unpublished_.find(number);
  if (unpublished != unpublished_.end()) return unpublished->second;
  return FileId{0};
}

bool FileGroup::end(Member& member, int64_t number) {
  if (const auto gone = unpublished_.find(number); gone != unpublished_.end()) {
    const bool dropped = gone->second.code() == TAILRACE_DROPPED;
    member.left(number, {.dropped = dropped, .written = false, .status = gone->second, .course = {}});
    return true;
  }
  Iteration& iteration = iterations_[number];
  iteration.ended.insert(&member);
  if (iteration.due) return true;
  if (!complete(iteration)) return false;
  let_go(number, iteration);
  return true;
}

// Publishes, removes or closes the iteration, now or when nobody holds it any more. The engine has room.
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

Status FileGroup::hold(int64_t number) {
  if (const auto found = unpublished_.find(number); found != unpublished_.end()) return found->second;
  ++iterations_[number].holds;
  return {};
}

void FileGroup::release(int64_t number) {
  Iteration& iteration = iterations_[number];
  TAILRACE_ASSERT(iteration.holds > 0);
  if (--iteration.holds > 0 || !iteration.due) return;
  go_when_free(number);
}

// Nobody holds it any more: it goes now, or as soon as the engine has room.
void FileGroup::go_when_free(int64_t number) {
  due_.insert(number);
  go_if_free(number);
}

bool FileGroup::progress() {
  const std::vector<int64_t> due(due_.begin(), due_.end());
  bool gone = false;
  for (const int64_t number : due) gone = go_if_free(number) || gone;
  return gone;
}

bool FileGroup::go_if_free(int64_t number) {
  Iteration& iteration = iterations_[number];
  if (iteration.holds > 0 || engine_.room() < kRequestsAtOnce) return false;
  let_go(number, iteration);
  return true;
}

Result<Extent> FileGroup::place_chunk(const Block& block, uint64_t index, const FilteredChunk& chunk,
                                      const Loss& loss) {
  const Result<std::vector<Extent>> extents = format_.place_chunks(block, index, {&chunk, 1}, loss);
  if (!extents.ok()) return extents.status();
  if (options_.witness != nullptr) options_.witness->placed(block, index, chunk, loss);
  return extents.value()[0];
}

void FileGroup::Witness::placed(const Block&, uint64_t, const FilteredChunk&, const Loss&) {}

// Why the file of an iteration is whole and has no name (place.on_missing: keep).
Status FileGroup::kept_for_absent(const FileNames& names) const {
  Fault fault;
  fault.code = TAILRACE_NOT_PUBLISHED;
  fault.operation = "publish";
  fault.file = names.temporary;
  fault.message = fmt::format(
      "{} of the {} clients that place.clients says never came, and place.on_missing is keep: the data of "
      "the others are in '{}', which 'tailrace recover' publishes",
      absent_, options_.clients, names.temporary);
  return Status(std::move(fault));
}

void FileGroup::publish(int64_t number, Iteration& iteration) {
  const bool begun = iteration.opened || !iteration.failure.ok() || format_.begun(number);
  if (!begun) return depart(number, {});  // nobody handed anything over
  const WorkId id = new_work(Kind::publication, number);
  Work& work = works_[id];
  if (Status opened = open_file(number, iteration); !opened.ok()) fail(number, opened);
  const Status doubt = options_.witness != nullptr ? options_.witness->doubt(number) : Status();
  if (!doubt.ok()) fail(number, doubt);
  if (!iteration.failure.ok()) work.status = not_published(iteration.failure);
  iteration.leaving = true;
  if (!iteration.opened) {
    format_.discard(number);
    return end_work(id);
  }
  work.names = format_.names(number);  // by the time of the rename the format may have forgotten them
  const std::vector<int> missing = missing_in(iteration);
  const uint32_t unnamed = absent_ - static_cast<uint32_t>(absent_numbers_.size());
  if (!missing.empty() || unnamed > 0) format_.note_missing(number, missing, unnamed);
  Result<FileEnding> ending = format_.finish(number);
  if (work.status.ok() && !ending.ok()) work.status = ending.status();
  if (!work.status.ok()) {
    Request close;
    close.operation = Operation::close;
    close.file = iteration.file;
    return submit(id, std::move(close));
  }
  work.ending = std::make_unique<FileEnding>(std::move(ending).value());
  work.kept = absent_ > 0 && config_.place.on_missing == OnMissing::keep;
  std::vector<Request> requests = publication(iteration.file, *work.ending, config_.storage.durability,
                                              work.kept ? FileEnd::kept : FileEnd::published);
  for (Request& request : requests) {
    request.replace = config_.storage.existing == Existing::resume;
    submit(id, std::move(request));
  }
}

void FileGroup::drop(Member& member, int64_t number, std::string why) {
  if (unpublished_.contains(number)) return member.left(number, {.dropped = true, .status = {}, .course = {}});
  Iteration& iteration = iterations_[number];
  iteration.ended.insert(&member);
  if (iteration.due) return;
  iteration.dropped = true;
  iteration.why_dropped = std::move(why);
  if (options_.clients > 1) iteration.why_dropped += fmt::format(" (client {})", member.client());
  log_.warning("iteration {} is dropped by client {}: {}", number, member.client(), iteration.why_dropped);
  let_go(number, iteration);
}

// Writes down that there was such an iteration, and removes what was written of it, once it has been.
void FileGroup::remove(int64_t number, Iteration& iteration) {
  format_.discard(number);
  iteration.leaving = true;
  const WorkId id = new_work(Kind::removal, number);
  works_[id].status = open_journal();
  if (works_[id].status.ok()) submit(id, journal_line(works_[id], iteration));
  if (iteration.opened) {
    Request remove;
    remove.operation = Operation::remove;
    remove.file = iteration.file;
    submit(id, std::move(remove));
  }
  if (works_[id].requests == 0) end_work(id);
}

Status FileGroup::open_journal() {
  if (journal_ != 0) return {};
  const OpenMode mode = options_.journal_end > 0 ? OpenMode::own : OpenMode::fresh;
  const Result<FileId> file = engine_.open(options_.journal, mode, 0, {});
  if (file.ok()) journal_ = file.value();
  return file.status();
}

Request FileGroup::journal_line(Work& work, const Iteration& iteration) {
  work.text = fmt::format("iteration {}: dropped, {}\n", work.iteration, iteration.why_dropped);
  Request request;
  request.operation = Operation::write;
  request.file = journal_;
  request.pieces = {{{journal_end_, work.text.size()}, reinterpret_cast<std::byte*>(work.text.data())}};
  journal_end_ += work.text.size();
  work.journal_end = journal_end_;
  return request;
}

// On which device it lies need not be known: all directories are synced.
void FileGroup::complete_publication(int64_t number) {
  if (config_.storage.durability != Durability::durable) {
    if (options_.witness != nullptr) options_.witness->left(number);
    return;
  }
  const std::vector<std::string>& paths = config_.storage.paths;
  late_syncs_[number].left = paths.size();
  for (uint32_t device = 0; device < paths.size(); ++device) {
    const WorkId id = new_work(Kind::late_sync, number);
    const Result<FileId> opened = engine_.open(paths[device], OpenMode::directory, device, {});
    works_[id].status = opened.status();
    if (!opened.ok()) {
      end_work(id);
      continue;
    }
    works_[id].file = opened.value();
    Request sync;
    sync.operation = Operation::sync;
    sync.file = opened.value();
    submit(id, std::move(sync));
  }
}

// Makes the new name of a published file durable.
void FileGroup::begin_directory_sync(const Work& publication) {
  const WorkId id = new_work(Kind::directory, publication.iteration);
  Work& work = works_[id];
  work.course = publication.course;
  const FileNames& names = publication.names;
  const Result<FileId> opened = engine_.open(names.directory, OpenMode::directory, names.device, {});
  work.status = opened.status();
  if (!opened.ok()) return end_work(id);
  work.file = opened.value();
  Request sync;
  sync.operation = Operation::sync;
  sync.file = opened.value();
  submit(id, std::move(sync));
}

// Opens the iteration's file if it is not; says why it cannot be written if that is known.
Status FileGroup::open_file(int64_t number, Iteration& iteration) {
  if (iteration.opened || !iteration.refusal.ok()) return iteration.refusal;
  const Result<FileId> file = open_or_continue(format_.names(number), number);
  if (!file.ok()) {
    refuse(number, file.status());
    return iteration.refusal;
  }
  iteration.opened = true;
  iteration.file = file.value();
  return {};
}

Result<FileId> FileGroup::open_or_continue(const FileNames& names, int64_t number) {
  if (const auto node = resumed_.extract(number); !node.empty()) {
    Result<FileId> there = engine_.open(names.temporary, OpenMode::own, names.device, names.final_path);
    if (there.ok() || node.mapped() || there.status().fault().system_errno != ENOENT) return there;
  }
  return engine_.open(names.temporary, OpenMode::fresh, names.device, names.final_path);
}

FileGroup::WorkId FileGroup::new_work(Kind kind, int64_t iteration) {
  const WorkId id = next_work_++;
  works_[id].kind = kind;
  works_[id].iteration = iteration;
  return id;
}

void FileGroup::submit(WorkId id, Request request) {
  request.sink = this;
  request.token = id;
  Work& work = works_[id];
  if (work.kind == Kind::publication) request.phase = phase_of(work.iteration);
  ++work.requests;
  engine_.submit(std::move(request));
}

void FileGroup::ended(const Request& request, const Status& status) {
  const auto found = works_.find(request.token);
  TAILRACE_ASSERT(found != works_.end());
  Work& work = found->second;
  TAILRACE_ASSERT(work.requests > 0);
  if (work.status.ok()) work.status = status;
  work.course.begun = std::min(work.course.begun, request.course.begun);
  work.course.ended = std::max(work.course.ended, request.course.ended);
  work.course.merged = work.course.merged || request.course.merged;
  if (--work.requests == 0) end_work(request.token);
}

void FileGroup::end_work(WorkId id) {
  const auto node = works_.extract(id);
  TAILRACE_ASSERT(!node.empty());
  const Work& work = node.mapped();
  TAILRACE_ASSERT(work.requests == 0);
  if (work.file != 0) {
    Request close;
    close.operation = Operation::close;
    close.file = work.file;
    engine_.submit(std::move(close));  // the group may be gone when it ends
  }
  if (work.kind == Kind::abandonment) {
    iterations_.erase(work.iteration);
    if (options_.witness != nullptr) options_.witness->left(work.iteration);
    return;
  }
  if (work.kind == Kind::late_sync) return end_late_sync(work);
  if (work.kind != Kind::removal) return end_publication(work);
  // Before it is struck out of the ledger, so that the line is not written over.
  if (options_.witness != nullptr && work.status.ok()) options_.witness->journaled(work.journal_end);
  remember_unpublished(work.iteration, why_ended(work.iteration, iterations_.at(work.iteration)));
  depart(work.iteration, {.dropped = true, .written = false, .status = work.status, .course = work.course});
}

void FileGroup::end_late_sync(const Work& work) {
  LateSyncs& syncs = late_syncs_.at(work.iteration);
  if (syncs.status.ok()) syncs.status = work.status;
  if (--syncs.left > 0) return;
  if (!syncs.status.ok()) {
    Fault fault = syncs.status.fault();
    fault.iteration = work.iteration;
    fault.message = "the file of the iteration has its name, which may not be durable: " + fault.message;
    const Status failure(std::move(fault));
    for (Member* member : members_) member->tell(failure);
  }
  late_syncs_.erase(work.iteration);
  if (options_.witness != nullptr) options_.witness->left(work.iteration);
}

// Ends the publication itself, or for `durable` the sync of the directory that completes it.
void FileGroup::end_publication(const Work& work) {
  if (work.kept && work.status.ok()) {
    const Status kept = kept_for_absent(work.names);
    remember_unpublished(work.iteration, kept);
    return depart(work.iteration, {.dropped = false, .written = true, .status = kept, .course = work.course});
  }
  const bool renamed = work.kind == Kind::publication && work.status.ok();
  if (renamed && config_.storage.durability == Durability::durable) {
    return begin_directory_sync(work);
  }
  // If only its name is not durable, the file is there all the same.
  if (work.kind == Kind::publication && !work.status.ok()) {
    fail(work.iteration, work.status);
    remember_unpublished(work.iteration, work.status);
  }
  if (work.status.ok() || work.kind == Kind::directory) published_.add(work.iteration);
  depart(work.iteration, {.dropped = false, .written = true, .status = work.status, .course = work.course});
}

// The iteration's file is gone from here: whoever waited for that reads the published one.
void FileGroup::depart(int64_t number, const Departure& how) {
  const auto node = iterations_.extract(number);
  TAILRACE_ASSERT(!node.empty());
  const Members& ended = node.mapped().ended;
  const std::vector<Member*> all(members_.begin(), members_.end());  // a member's answer may be its leaving
  for (Member* member : all) {
    if (ended.contains(member)) {
      member->left(number, how);
    } else {
      member->gone(number);
    }
  }
  // After the members have been told: no other server will do that.
  if (options_.witness == nullptr) return;
  const auto without_file = unpublished_.find(number);
  if (without_file != unpublished_.end()) return options_.witness->unpublished(number, without_file->second);
  options_.witness->left(number);
}

void FileGroup::remember_unpublished(int64_t iteration, const Status& why) {
  unpublished_[iteration] = why;
  if (unpublished_.size() > kUnpublishedRemembered) unpublished_.erase(unpublished_.begin());
}

}  // namespace tailrace::impl
