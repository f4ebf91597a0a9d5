#include "publish/publisher.hpp"

#include <span>
#include <utility>

namespace tailrace::impl {

void Publisher::publish(Publication publication, Then then) {
  TAILRACE_REQUIRE(!publication.plan.steps.empty());
  run(std::make_shared<Work>(Work{std::move(publication), 0, {}, std::move(then)}));
}

void Publisher::publish_when_free(Publication publication, Then then) {
  TAILRACE_REQUIRE(!publication.plan.steps.empty());
  waiting_.push_back(std::make_shared<Work>(Work{std::move(publication), 0, {}, std::move(then)}));
  progress();
}

bool Publisher::progress() {
  const bool some = !waiting_.empty() && engine_.room() >= kRequestsAtOnce;
  while (!waiting_.empty() && engine_.room() >= kRequestsAtOnce) {
    const WorkPointer work = std::move(waiting_.front());
    waiting_.pop_front();
    run(work);
  }
  return some;
}

void Publisher::run(const WorkPointer& work) {
  const std::span<PublicationStep> left = std::span(work->of.plan.steps).subspan(work->done);
  const bool shows = left.front().shows || left.front().kind == PublicationStep::Kind::publish;
  if (shows) work->how.add(work->of.doubt(), {});
  if (!work->how.status.ok()) return give_up(work);
  const size_t steps = length_of_run(left);
  const LeavingFile& file = work->of.files[left.front().file];
  std::vector<Request> requests = requests_of(left.first(steps), file.file, storage_.durability, work->of.end);
  for (Request& request : requests) {
    request.phase = work->of.phase;
    request.replace = storage_.existing == Existing::resume;
    request.fence = request.fence || work->of.must_open;
  }
  batches_.run(std::move(requests), [this, work, steps](const Batches::End& end) { end_run(work, steps, end); });
}

void Publisher::end_run(const WorkPointer& work, size_t steps, const Batches::End& end) {
  work->how.add(end.status, end.course);
  std::set<Synced> directories;
  for (size_t i = 0; i < steps; ++i) {
    const PublicationStep& step = work->of.plan.steps[work->done + i];
    if (step.kind == PublicationStep::Kind::write) continue;
    LeavingFile& file = work->of.files[step.file];
    file.open = false;  // even if that fails
    const bool named = step.kind == PublicationStep::Kind::publish && work->of.end == FileEnd::published;
    if (named) directories.insert({file.names.directory, file.names.device});
  }
  if (!work->how.status.ok()) return give_up(work);
  work->done += steps;
  if (storage_.durability != Durability::durable) return go_on(work);
  // The iteration may lie in a file of earlier ones, whose name is not durable yet.
  for (const Synced& one : not_durable_) {
    if (directories.size() < kRequestsOfRun) directories.insert(one);
  }
  if (directories.empty()) return go_on(work);
  sync({directories.begin(), directories.end()}, [this, work, directories](const Batches::End& synced) {
    for (const Synced& one : directories) {
      if (synced.status.ok()) not_durable_.erase(one);
      if (!synced.status.ok()) not_durable_.insert(one);
    }
    work->how.add(synced.status, synced.course);
    go_on(work);
  });
}

void Publisher::go_on(const WorkPointer& work) {
  const bool visible = work->done == work->of.plan.steps.size();
  if (visible) return work->then({work->how, true});
  if (!work->how.status.ok()) return give_up(work);
  waiting_.push_back(work);
  progress();
}

void Publisher::give_up(const WorkPointer& work) {
  std::vector<Request> requests;
  for (LeavingFile& file : work->of.files) {
    if (!std::exchange(file.open, false)) continue;
    Request close;
    close.operation = Operation::close;
    close.file = file.file;
    requests.push_back(std::move(close));
  }
  batches_.run(std::move(requests), [work](const Batches::End&) { work->then({work->how, false}); });
}

void Publisher::sync(const std::vector<Synced>& all, Batches::Then then) {
  std::vector<Request> requests;
  std::vector<FileId> opened;
  for (const Synced& one : all) {
    opened.push_back(engine_.open(one.path, one.mode, one.device, {}));
    Request sync;
    sync.operation = Operation::sync;
    sync.file = opened.back();
    requests.push_back(std::move(sync));
  }
  batches_.run(std::move(requests), [this, opened, then = std::move(then)](const Batches::End& end) {
    for (const FileId file : opened) batches_.close(file);
    then(end);
  });
}

}  // namespace tailrace::impl
