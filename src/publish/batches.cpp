#include "publish/batches.hpp"

#include <algorithm>
#include <utility>

namespace tailrace::impl {

void Batches::End::add(const Status& other, const Request::Course& went) {
  if (status.ok()) status = other;
  course.begun = std::min(course.begun, went.begun);
  course.ended = std::max(course.ended, went.ended);
  course.merged = course.merged || went.merged;
}

void Batches::run(std::vector<Request> requests, Then then) {
  if (requests.empty()) return then({});
  const uint64_t id = next_++;
  batches_[id] = {requests.size(), {}, std::move(then)};
  for (Request& request : requests) {
    request.sink = this;
    request.token = id;
    engine_.submit(std::move(request));
  }
}

void Batches::close(FileId file) {
  Request close;
  close.operation = Operation::close;
  close.file = file;
  engine_.submit(std::move(close));
}

void Batches::ended(const Request& request, const Status& status) {
  const auto found = batches_.find(request.token);
  TAILRACE_ASSERT(found != batches_.end());
  Batch& batch = found->second;
  batch.end.add(status, request.course);
  if (--batch.left > 0) return;
  const auto node = batches_.extract(found);
  node.mapped().then(node.mapped().end);
}

}  // namespace tailrace::impl
