#include "engine/queue/request_queue.hpp"

#include <algorithm>
#include <utility>

namespace tailrace::impl {

RequestQueue::RequestQueue(uint32_t limit) : slots_(limit) {
  TAILRACE_REQUIRE(limit > 0);
  for (uint32_t slot = limit; slot-- > 0;) free_slots_.push_back(slot);
}

const Request* RequestQueue::admit(Request request) {
  TAILRACE_REQUIRE(!free_slots_.empty());
  const uint32_t slot = free_slots_.back();
  free_slots_.pop_back();
  request.slot = slot;
  Pending& pending = slots_[slot];
  TAILRACE_ASSERT(!pending.held);
  pending = Pending{std::move(request), true, 0, {}, {}};
  std::vector<uint32_t>& of_file = by_file_[pending.request.file];
  // From the latest back to the last fence: what lies before a fence has it as a dependent already.
  for (size_t i = of_file.size(); i-- > 0;) {
    Pending& earlier = slots_[of_file[i]];
    if (conflict(earlier.request, pending.request)) {
      earlier.dependents.push_back(slot);
      ++pending.blockers;
    }
    if (earlier.request.is_fence()) break;
  }
  of_file.push_back(slot);
  return pending.blockers == 0 ? &pending.request : nullptr;
}

Request RequestQueue::finish(uint32_t slot, const Status& status, std::vector<const Request*>& ready) {
  Pending& pending = slots_[slot];
  TAILRACE_REQUIRE(pending.held);
  TAILRACE_REQUIRE(pending.blockers == 0);
  std::vector<uint32_t>& of_file = by_file_[pending.request.file];
  of_file.erase(std::find(of_file.begin(), of_file.end(), slot));
  if (of_file.empty()) by_file_.erase(pending.request.file);
  const bool lost_bytes = !status.ok() && pending.request.operation == Operation::write;
  for (const uint32_t later : pending.dependents) {
    Pending& dependent = slots_[later];
    TAILRACE_ASSERT(dependent.blockers > 0);
    if (lost_bytes && dependent.request.operation == Operation::read) dependent.inherited = status;
    if (--dependent.blockers == 0) ready.push_back(&dependent.request);
  }
  pending.held = false;
  free_slots_.push_back(slot);
  return std::move(pending.request);
}

const Status& RequestQueue::inherited(uint32_t slot) const {
  TAILRACE_REQUIRE(slots_[slot].held);
  return slots_[slot].inherited;
}

}  // namespace tailrace::impl
