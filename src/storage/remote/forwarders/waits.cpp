#include "storage/remote/forwarders/waits.hpp"

#include <algorithm>
#include <utility>

namespace tailrace::impl {

void Waits::answered(uint64_t number, Reply reply) {
  const auto found = calls_.find(number);
  if (found == calls_.end()) return;
  Call& call = *found->second;
  calls_.erase(found);
  call.reply_ = std::move(reply);
  call.task_.resume();
}

// A task that goes on may make others wait, or change what they wait for.
bool Waits::progress() {
  bool any = false;
  const auto is_due = [this](const Condition* one) { return forwarders_.now() >= one->until_ || one->holds_(); };
  for (auto at = conditions_.begin(); at != conditions_.end();) {
    if (!is_due(*at)) {
      ++at;
      continue;
    }
    Condition& condition = **at;
    conditions_.erase(at);
    condition.task_.resume();
    any = true;
    at = conditions_.begin();
  }
  return any;
}

std::optional<Nanoseconds> Waits::due() const {
  std::optional<Nanoseconds> due;
  for (const Condition* one : conditions_) {
    if (one->until_ != Nanoseconds::max()) due = std::min(due.value_or(one->until_), one->until_);
  }
  return due;
}

}  // namespace tailrace::impl
