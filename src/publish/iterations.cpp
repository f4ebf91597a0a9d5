#include "publish/iterations.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <utility>

namespace tailrace::impl {

Status removed_by_others(const Status& why) {
  if (why.fault().system_errno != ENOENT) return why;
  Fault fault = why.fault();
  fault.message +=
      ": the blocks that an earlier server had written are gone with it, since nodes have opened their "
      "next run, and the file lacked the data of others";
  return Status(std::move(fault));
}

const Iteration* Iterations::find(int64_t number) const {
  const auto found = unfinished_.find(number);
  return found != unfinished_.end() ? &found->second : nullptr;
}

void Iterations::resume(int64_t number, bool written) {
  if (!why_unpublished(number).ok()) return;
  Iteration& iteration = begin(number);
  iteration.resumed = true;
  iteration.has_earlier_blocks = written;
}

void Iterations::fail(int64_t number, const Status& why) {
  if (!why_unpublished(number).ok()) return;
  Iteration& iteration = begin(number);
  if (!iteration.failure.ok()) return;
  const bool is_joint = format_.begun(number) && format_.files(number)[0].joint;
  // If it is already leaving, the engine knows, and does not publish it.
  iteration.failure = is_joint && iteration.has_earlier_blocks ? removed_by_others(why) : why;
  witness_.failed(number, iteration.failure);
}

void Iterations::refuse(int64_t number, const Status& why) {
  fail(number, why);
  if (const auto found = unfinished_.find(number); found != unfinished_.end()) found->second.refusal = why;
}

Status Iterations::failure(int64_t number) const {
  const Iteration* const found = find(number);
  return found != nullptr ? found->failure : Status();
}

bool Iterations::given_up(int64_t number) const {
  const Iteration* const found = find(number);
  return found != nullptr && found->dropped;
}

Status Iterations::writable(int64_t number) const {
  if (leaving(number)) return why_ended(number, unfinished_.at(number));
  if (published_.contains(number)) {
    return Status(
        TAILRACE_WRONG_ORDER,
        fmt::format("the file of iteration {} has been published already: nothing can be added to it", number));
  }
  return why_unpublished(number);
}

Status Iterations::why_no_file(int64_t number) const {
  if (Status gone = why_unpublished(number); !gone.ok()) return gone;
  const Iteration* const found = find(number);
  if (found == nullptr || !found->expects_blocks || format_.begun(number)) return {};
  return Status(TAILRACE_NOT_FOUND,
                fmt::format("read: iteration {} has begun, and no block of it is in its file yet", number));
}

bool Iterations::leaving(int64_t number) const {
  const Iteration* const found = find(number);
  return found != nullptr && found->due;
}

bool Iterations::publishing(int64_t number) const {
  const Iteration* const found = find(number);
  return found != nullptr && found->leaving;
}

bool Iterations::has_left(int64_t number) const { return find(number) == nullptr && !writable(number).ok(); }

std::optional<int64_t> Iterations::ended_by_all_here() const {
  for (const auto& [number, iteration] : unfinished_) {
    const bool by_all = iteration.ended.here.size() == clients_.here().size();
    if (iteration.ended.any() && !iteration.due && by_all) return number;
  }
  return std::nullopt;
}

Status Iterations::why_ended(int64_t number, const Iteration& iteration) const {
  if (iteration.dropped) {
    return Status(TAILRACE_DROPPED, fmt::format("iteration {} was dropped: {}", number, iteration.why_dropped));
  }
  return Status(TAILRACE_WRONG_ORDER, fmt::format("iteration {} has ended, {}: nothing can be added to it any more",
                                                  number, clients_.describe(iteration.ended)));
}

void Iterations::add_unpublished(int64_t number, const Status& why) {
  if (unpublished_.insert_or_assign(number, why).second) order_.push_back(number);
  if (order_.size() <= kUnpublishedRemembered) return;
  unpublished_.erase(order_.front());
  order_.pop_front();
}

Status Iterations::why_unpublished(int64_t number) const {
  const auto found = unpublished_.find(number);
  return found == unpublished_.end() ? Status() : found->second;
}

}  // namespace tailrace::impl
