#include "channel/failure_log.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/names/counted.hpp"

namespace tailrace::impl {

void FailureLog::add(uint64_t ticket, const Status& status) {
  TAILRACE_REQUIRE(!status.ok());
  if (!ring_.push(to_record(ticket, status))) {
    // relaxed: only the server writes it; `added`, stored after it, announces it.
    shared_->lost.store(shared_->lost.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
  }
  // release: the record, or the number of lost ones, comes before; partner: the acquire in collect().
  shared_->added.store(shared_->added.load(std::memory_order_relaxed) + 1, std::memory_order_release);
}

void FailureLog::add_own(Status status) {
  TAILRACE_REQUIRE(!status.ok());
  collect();
  entries_.push_back({0, std::move(status)});
  ++own_;
}

// Takes the records that the server has sent, as far as there is room for them.
void FailureLog::collect() {
  (void)shared_->added.load(std::memory_order_acquire);
  FailureRecord record;
  while (entries_.size() < kKept && ring_.pop(record)) entries_.push_back({record.ticket, to_status(record)});
}

std::optional<FailureLog::Entry> FailureLog::take_oldest() {
  collect();
  if (!entries_.empty()) {
    Entry entry = std::move(entries_.front());
    entries_.pop_front();
    ++taken_;
    return entry;
  }
  const uint64_t lost = shared_->lost.load(std::memory_order_relaxed);
  if (lost == lost_told_) return std::nullopt;
  const uint64_t count = lost - std::exchange(lost_told_, lost);
  taken_ += count;
  return Entry{0, Status(TAILRACE_IO_ERROR, fmt::format("{} failed, after {} others whose causes were kept",
                                                        counted(count, "more request"), kKept))};
}

std::optional<FailureLog::Entry> FailureLog::take(uint64_t ticket) {
  collect();
  const auto found =
      std::find_if(entries_.begin(), entries_.end(), [ticket](const Entry& entry) { return entry.ticket == ticket; });
  if (found == entries_.end()) return std::nullopt;
  Entry entry = std::move(*found);
  entries_.erase(found);
  ++taken_;
  return entry;
}

}  // namespace tailrace::impl
