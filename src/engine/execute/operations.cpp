#include "engine/execute/operations.hpp"

#include <utility>

#include "model/request.hpp"

namespace tailrace::impl {

void Operations::submit(FileOperation operation, uint32_t client, Then then) {
  Waiting one{std::move(operation), client, std::move(then)};
  if (!waiting_.empty() || under_way_ >= storage_.capabilities().operations)
    return waiting_.push_back(std::move(one));
  begin(std::move(one));
}

void Operations::begin(Waiting one) {
  if (one.client != 0 && may_begin_ && !may_begin_(one.client)) return withdrawn_.push_back(std::move(one.then));
  if (free_.empty()) {
    free_.push_back(then_.size());
    then_.emplace_back();
  }
  one.operation.tag = free_.back();
  free_.pop_back();
  then_[one.operation.tag] = std::move(one.then);
  ++under_way_;
  storage_.submit(std::move(one.operation));
}

bool Operations::progress() {
  bool any = false;
  while (std::optional<FileOperationEnd> end = storage_.reap_operation()) {
    const Then then = std::exchange(then_[end->tag], nullptr);
    free_.push_back(end->tag);
    --under_way_;
    then(*end);
    any = true;
  }
  while (!waiting_.empty() && under_way_ < storage_.capabilities().operations) {
    Waiting one = std::move(waiting_.front());
    waiting_.pop_front();
    begin(std::move(one));
  }
  return end_withdrawn() || any;
}

bool Operations::end_withdrawn() {
  const bool any = !withdrawn_.empty();
  for (; !withdrawn_.empty(); withdrawn_.pop_front()) {
    const Then then = std::move(withdrawn_.front());
    FileOperationEnd end{.status = withdrawn()};
    then(end);
  }
  return any;
}

}  // namespace tailrace::impl
