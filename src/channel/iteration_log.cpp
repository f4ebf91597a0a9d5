#include "channel/iteration_log.hpp"

#include <algorithm>
#include <optional>

namespace tailrace::impl {
namespace {

Nanoseconds time_of(uint64_t value) { return Nanoseconds(static_cast<int64_t>(value)); }

// acquire: a reader that sees a number of the next iteration also sees that the version had become odd before;
// partner: the releases in IterationLog::begin().
uint64_t get(const Tally& tally) { return tally.get(std::memory_order_acquire); }

// Reads a record; none if it is unused, or was reassigned to another iteration during the read.
std::optional<IterationFigures> read(const IterationRecord& from) {
  const uint64_t version = from.version.load(std::memory_order_acquire);
  if (version == 0 || version % 2 == 1) return std::nullopt;
  IterationFigures figures;
  figures.iteration = static_cast<int64_t>(get(from.iteration));
  figures.begun = time_of(get(from.begun));
  figures.ended = time_of(get(from.ended));
  figures.left = time_of(get(from.left));
  figures.next = time_of(get(from.next));
  figures.busy = time_of(get(from.busy));
  figures.moving = time_of(get(from.moving));
  figures.filtering = time_of(get(from.filtering));
  figures.bytes_taken = get(from.bytes_taken);
  figures.bytes_stored = get(from.bytes_stored);
  figures.chunks_filtered = get(from.chunks_filtered);
  figures.chunks_relaxed = get(from.chunks_relaxed);
  figures.chunks_skipped = get(from.chunks_skipped);
  figures.waited = time_of(get(from.waited));
  // A faulty writer may have put any number there.
  const uint64_t last = static_cast<uint64_t>(IterationFigures::Outcome::empty);
  figures.outcome = static_cast<IterationFigures::Outcome>(std::min(get(from.outcome), last));
  // relaxed: the acquires above keep this load behind them.
  if (from.version.load(std::memory_order_relaxed) != version) return std::nullopt;
  return figures;
}

}  // namespace

IterationRecord& IterationLog::begin(int64_t iteration, Nanoseconds now) {
  const uint64_t count = shared_->begun.get();
  IterationRecord& record = at(count);
  // The version may be odd already, if an earlier server died at this point.
  const uint64_t odd = record.version.load(std::memory_order_relaxed) | 1;
  record.version.store(odd, std::memory_order_relaxed);
  // release: see get().
  constexpr auto order = std::memory_order_release;
  for (Tally* tally : {&record.ended, &record.left, &record.next, &record.busy, &record.moving, &record.filtering,
                       &record.bytes_taken, &record.bytes_stored, &record.chunks_filtered, &record.chunks_relaxed,
                       &record.chunks_skipped, &record.waited, &record.outcome}) {
    tally->set(0, order);
  }
  record.iteration.set(static_cast<uint64_t>(iteration), order);
  record.begun.set(static_cast<uint64_t>(now.count()), order);
  record.version.store(odd + 1, std::memory_order_release);
  shared_->begun.set(count + 1);
  return record;
}

IterationRecord* IterationLog::find(int64_t iteration) {
  const uint64_t count = shared_->begun.get();
  for (uint64_t back = 1; back <= std::min<uint64_t>(count, kKept); ++back) {
    IterationRecord& record = at(count - back);
    if (record.iteration.get() == static_cast<uint64_t>(iteration)) return &record;
  }
  return nullptr;
}

IterationRecord* IterationLog::latest() {
  const uint64_t count = shared_->begun.get();
  return count == 0 ? nullptr : &at(count - 1);
}

std::vector<IterationFigures> IterationLog::read(const Shared& shared) {
  std::vector<IterationFigures> all;
  for (const IterationRecord& record : shared.records) {
    if (const auto figures = impl::read(record)) all.push_back(*figures);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const IterationFigures& a, const IterationFigures& b) { return a.begun < b.begun; });
  return all;
}

}  // namespace tailrace::impl
