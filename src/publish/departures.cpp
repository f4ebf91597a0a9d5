#include "publish/departures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>
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

}  // namespace

Departures::Departures(const Parts& parts, OnMissing on_missing, DropJournal journal)
    : parts_(parts),
      on_missing_(on_missing),
      batches_(parts.engine),
      publisher_(parts.storage, parts.engine, batches_),
      journal_(std::move(journal)) {}

void Departures::begin(int64_t number) {
  Iteration& iteration = parts_.iterations.begin(number);
  if (iteration.abandoned) return close(number, iteration);
  iteration.dropped ? remove(number, iteration) : publish(number, iteration);
}

void Departures::publish(int64_t number, Iteration& iteration) {
  const bool begun = iteration.opened() || !iteration.failure.ok() || parts_.format.begun(number) ||
                     parts_.format.begin_empty(number);
  if (!begun) return depart(number, {});  // no block was handed over
  if (Status opened = parts_.files.open_all(number); !opened.ok()) parts_.iterations.fail(number, opened);
  iteration.leaving = true;
  const Status failed = iteration.failure.ok() ? Status() : not_published(iteration.failure);
  if (!iteration.opened()) {
    parts_.format.discard(number);
    return end_unwritten(number, failed, {});
  }
  const std::vector<FileNames> names = parts_.format.files(number);  // the format forgets them when it has finished
  note_missing(number, iteration);
  Result<PublicationPlan> plan = parts_.format.finish(number);
  const Status status = failed.ok() ? plan.status() : failed;
  if (!status.ok()) {
    const auto then = [this, number, status](const Batches::End& end) {
      parts_.format.ended(number, false);
      end_unwritten(number, status, end.course);
    };
    return batches_.run(parts_.files.for_each_open(number, Operation::close), then);
  }
  const bool continued = names.front().joint && iteration.has_earlier_blocks;
  Publication publication{std::move(plan).value(), {}, FileEnd::published, phase_of(number), continued, {}};
  publication.doubt = [this, number] { return doubt(number); };
  for (size_t i = 0; i < names.size(); ++i) publication.files.push_back({names[i], iteration.files[i], true});
  const bool kept = parts_.clients.absent() > 0 && on_missing_ == OnMissing::keep;
  if (kept) publication.end = FileEnd::kept;
  const auto then = [this, number, kept, continued, first = names.front()](const Publisher::End& end) {
    parts_.format.ended(number, end.visible);
    if (kept && end.how.status.ok()) return end_kept(number, kept_for_absent(first), end.how.course);
    const Completed leave = [this, number](const Batches::End& how, bool visible) {
      if (!visible) return end_unwritten(number, how.status, how.course);
      parts_.iterations.add_published(number);  // if only its name is not durable, the file exists all the same
      depart(number, {.dropped = false, .written = true, .status = how.status, .course = how.course});
    };
    if (!end.visible) return continued ? end_continued(number, end.how, leave) : leave(end.how, false);
    complete(number, [leave, first = end.how](Batches::End how, bool visible) {
      how.add(first.status, first.course);
      leave(std::move(how), visible);
    });
  };
  publisher_.publish(std::move(publication), then);
}

// A file of several nodes with blocks of an earlier server may be gone: another node has completed it, or a run that
// has begun since has removed it.
void Departures::end_continued(int64_t number, Batches::End how, const Completed& then) {
  if (!doubt(number).ok()) return then(std::move(how), false);
  how.status = removed_by_others(how.status);
  then_if_completed(number, how, then);
}

// Returns why the iteration must not be published although its plan goes well. A block that failed meanwhile may be
// in a file that others publish.
Status Departures::doubt(int64_t number) const {
  const Status doubt = parts_.witness.doubt(number);
  const Status why = doubt.ok() ? parts_.iterations.failure(number) : doubt;
  return why.ok() ? why : not_published(why);
}

// Returns why the file of an iteration is whole and has no name (place.on_missing: keep).
Status Departures::kept_for_absent(const FileNames& names) const {
  Fault fault;
  fault.code = TAILRACE_NOT_PUBLISHED;
  fault.operation = "publish";
  fault.file = names.temporary;
  fault.message = fmt::format(
      "{} of the {} clients of place.clients never came, and place.on_missing is keep: the data of "
      "the others are in '{}', which 'tailrace recover' publishes",
      parts_.clients.absent(), parts_.clients.expected(), names.temporary);
  return Status(std::move(fault));
}

// The file says who is missing. Tells the clients that are here of those that have gone, once of each;
// FileGroup::give_up_absent() gets those that never came.
void Departures::note_missing(int64_t number, const Iteration& iteration) {
  const std::vector<int> missing = parts_.clients.missing(iteration.ended);
  if (!missing.empty() || parts_.clients.unnamed() > 0)
    parts_.format.note_missing(number, missing, parts_.clients.unnamed());
  std::vector<int> news;
  for (const int client : missing) {
    if (parts_.clients.has_gone(client) && told_missing_.insert(client).second) news.push_back(client);
  }
  if (news.empty()) return;
  const bool one = news.size() == 1;
  const Status status(
      TAILRACE_CLIENTS_MISSING,
      fmt::format(
          "iteration {} has ended without client{} {}, which {} gone before: the file says so, and what was not "
          "written reads as its fill_value, or without one as NaN (0 in integers)",
          number, one ? "" : "s", fmt::join(news, ", "), one ? "has" : "have"));
  parts_.log.warning("{}", status.fault().message);
  tell_all(status);
}

// Ends an iteration in which something has failed, after its files were closed.
void Departures::end_unwritten(int64_t number, const Status& why, const Request::Course& course) {
  parts_.iterations.fail(number, why);
  end_kept(number, why, course);
}

// Ends an iteration whose files did not get their names.
void Departures::end_kept(int64_t number, const Status& why, const Request::Course& course) {
  parts_.iterations.add_unpublished(number, why);
  depart(number, {.dropped = false, .written = true, .status = why, .course = course});
}

// Records that there was such an iteration, and then removes its files.
void Departures::remove(int64_t number, Iteration& iteration) {
  // A file that has been published has other iterations; a joint one has bytes of other nodes.
  const bool stays =
      iteration.opened() && (parts_.format.files(number)[0].is_published() || parts_.format.files(number)[0].joint);
  parts_.format.discard(number);
  iteration.leaving = true;
  std::vector<Request> requests = parts_.files.for_each_open(number, stays ? Operation::close : Operation::remove);
  const auto line = journal_.add(number, iteration.why_dropped, requests);
  batches_.run(std::move(requests), [this, number, line](const Batches::End& end) {
    // Before the ledger strikes it out, so that the line is not overwritten.
    if (end.status.ok()) parts_.witness.journaled(line->end);
    parts_.iterations.add_unpublished(number, parts_.iterations.why_ended(number, parts_.iterations.begin(number)));
    depart(number, {.dropped = true, .written = false, .status = end.status, .course = end.course});
  });
}

// Leaves the iteration's files as they are.
void Departures::close(int64_t number, Iteration& iteration) {
  parts_.format.discard(number);
  iteration.leaving = true;
  batches_.run(parts_.files.for_each_open(number, Operation::close), [this, number](const Batches::End&) {
    parts_.iterations.unfinished().erase(number);
    parts_.witness.left(number);
  });
}

// Reports that the iteration's file has left: reads that waited for that use the published one.
void Departures::depart(int64_t number, const Departure& how) {
  const auto node = parts_.iterations.unfinished().extract(number);
  TAILRACE_ASSERT(!node.empty());
  const GroupClients::Members& ended = node.mapped().ended.here;
  const GroupClients::Members& here = parts_.clients.here();
  const std::vector<GroupMember*> all(here.begin(), here.end());  // a member may leave when it hears this
  for (GroupMember* member : all) {
    if (ended.contains(member)) {
      member->left(number, how);
    } else {
      member->gone(number);
    }
  }
  // After the members, since no other server will report it to them.
  if (const Status without_file = parts_.iterations.why_unpublished(number); !without_file.ok()) {
    return parts_.witness.unpublished(number, without_file);
  }
  parts_.witness.left(number);
}

// Completes the file of several nodes if this one was the last of them. Calls `then` when that has ended, or if there
// is nothing to complete.
void Departures::complete(int64_t number, const Completed& then) {
  Result<std::optional<JointPublication>> found = parts_.format.complete(number);
  if (!found.ok()) return then_if_completed(number, {found.status(), {}}, then);
  if (!found.value()) {
    (void)parts_.format.is_complete(number);  // the completer may have died before it removed the nodes' parts
    return then({}, true);
  }
  Publication publication{std::move(found.value()->plan), {}, FileEnd::published, phase_of(number), false, {}};
  publication.doubt = [this, number] { return doubt(number); };
  for (const FileNames& names : found.value()->files) {
    const OpenMode mode = names.joint ? OpenMode::own : OpenMode::fresh;
    const FileId file = parts_.engine.open(names.temporary, mode, names.device, names.final_path);
    publication.files.push_back({names, file, true});
  }
  publisher_.publish_when_free(std::move(publication), [this, number, then](const Publisher::End& end) {
    if (!end.visible) return then_if_completed(number, end.how, then);
    (void)parts_.format.is_complete(number);  // it removes the nodes' parts
    then(end.how, true);
  });
}

// Another node may have completed the file meanwhile.
void Departures::then_if_completed(int64_t number, const Batches::End& how, const Completed& then) {
  if (parts_.format.is_complete(number)) return then({{}, how.course}, true);
  then(how, false);
}

// The file's device need not be known: all directories are synced. In a file of several iterations, the write that
// showed this one may not be durable either.
void Departures::complete_publication(int64_t number) {
  if (parts_.storage.durability != Durability::durable) return complete_again(number);
  std::vector<Publisher::Synced> synced;
  for (const std::string& path : parts_.storage.paths) {
    synced.push_back({path, static_cast<uint32_t>(synced.size())});
  }
  const std::optional<FileNames> file =
      parts_.storage.has_file_each() ? std::nullopt : parts_.format.published(number);
  if (file) synced.push_back({file->final_path, file->device, OpenMode::own});
  ++completing_;
  publisher_.sync(synced, [this, number](const Batches::End& end) {
    --completing_;
    if (!end.status.ok()) {
      Fault fault = end.status.fault();
      fault.iteration = number;
      fault.message = "the file of the iteration has its name, which may not be durable: " + fault.message;
      tell_all(Status(std::move(fault)));
    }
    complete_again(number);
  });
}

// The earlier server may have been the last of several nodes.
void Departures::complete_again(int64_t number) {
  ++completing_;
  complete(number, [this, number](const Batches::End& end, bool visible) {
    --completing_;
    if (!visible) tell_all(not_published(end.status));
    parts_.witness.left(number);
  });
}

void Departures::tell_all(const Status& status) const {
  for (GroupMember* const member : parts_.clients.here()) member->tell(status);
}

}  // namespace tailrace::impl
