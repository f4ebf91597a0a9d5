#include "place/failure_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace tailrace::impl {

void FailureLog::add(uint64_t ticket, Status status) {
  TAILRACE_REQUIRE(!status.ok());
  const std::lock_guard lock(mutex_);
  if (entries_.size() < kKept) {
    entries_.push_back({ticket, std::move(status)});
  } else {
    ++causes_lost_;
  }
  unseen_.fetch_add(1, std::memory_order_relaxed);
  total_.fetch_add(1, std::memory_order_relaxed);
}

std::optional<FailureLog::Entry> FailureLog::take_oldest() {
  const std::lock_guard lock(mutex_);
  if (!entries_.empty()) {
    Entry entry = std::move(entries_.front());
    entries_.pop_front();
    unseen_.fetch_sub(1, std::memory_order_relaxed);
    return entry;
  }
  if (causes_lost_ == 0) return std::nullopt;
  const uint64_t count = std::exchange(causes_lost_, 0);
  unseen_.fetch_sub(count, std::memory_order_relaxed);
  return Entry{0, Status(TAILRACE_IO_ERROR, fmt::format("{} more requests failed, after {} others whose causes were "
                                                        "kept",
                                                        count, kKept))};
}

std::optional<FailureLog::Entry> FailureLog::take(uint64_t ticket) {
  const std::lock_guard lock(mutex_);
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [ticket](const Entry& entry) { return entry.ticket == ticket; });
  if (found == entries_.end()) return std::nullopt;
  Entry entry = std::move(*found);
  entries_.erase(found);
  unseen_.fetch_sub(1, std::memory_order_relaxed);
  return entry;
}

}  // namespace tailrace::impl
