#include "publish/iteration_ends.hpp"

#include <fmt/format.h>

namespace tailrace::impl {

void IterationEnds::add_unpublished(int64_t iteration, const Status& why) {
  if (unpublished_.insert_or_assign(iteration, why).second) order_.push_back(iteration);
  if (order_.size() <= kUnpublishedRemembered) return;
  unpublished_.erase(order_.front());
  order_.pop_front();
}

Status IterationEnds::why_unpublished(int64_t iteration) const {
  const auto found = unpublished_.find(iteration);
  return found == unpublished_.end() ? Status() : found->second;
}

Status IterationEnds::writable(int64_t iteration) const {
  if (published_.contains(iteration)) {
    return Status(
        TAILRACE_WRONG_ORDER,
        fmt::format("the file of iteration {} has been published already: nothing can be added to it", iteration));
  }
  return why_unpublished(iteration);
}

}  // namespace tailrace::impl
