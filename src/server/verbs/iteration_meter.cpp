#include "server/verbs/iteration_meter.hpp"

#include <algorithm>

namespace tailrace::impl {
namespace {

uint64_t count_of(Nanoseconds time) { return static_cast<uint64_t>(std::max(time, Nanoseconds::zero()).count()); }

}  // namespace

IterationMeter::IterationMeter(IterationLog log, const Clock& clock, Nanoseconds filtered)
    : log_(log), clock_(clock), present_(log_.latest()), activity_{.filtered = filtered} {}

void IterationMeter::begin(int64_t iteration) {
  if (log_.find(iteration) != nullptr) return;
  const Nanoseconds now = clock_.now();
  pass(now);
  if (present_ != nullptr) present_->next.set(count_of(now));
  present_ = &log_.begin(iteration, now);
}

void IterationMeter::took(int64_t iteration, uint64_t bytes) {
  if (IterationRecord* const of = log_.find(iteration)) of->bytes_taken.add(bytes);
}

void IterationMeter::stored(int64_t iteration, uint64_t bytes) {
  if (IterationRecord* const of = log_.find(iteration)) of->bytes_stored.add(bytes);
}

void IterationMeter::end(int64_t iteration, Nanoseconds waited) {
  IterationRecord* const of = log_.find(iteration);
  if (of == nullptr || of->ended.get() != 0) return;
  of->ended.set(count_of(clock_.now()));
  of->waited.set(count_of(waited));
}

void IterationMeter::left(int64_t iteration, IterationRecord::Outcome outcome, Nanoseconds when) {
  IterationRecord* const of = log_.find(iteration);
  if (of == nullptr) return;
  of->left.set(count_of(when));
  of->outcome.set(static_cast<uint64_t>(outcome));
}

void IterationMeter::look(const Activity& activity) {
  if (activity == activity_) return;
  const bool turned = activity.moving != activity_.moving || activity.filtering != activity_.filtering;
  if (turned) pass(clock_.now());
  if (present_ != nullptr) present_->filtering.add(count_of(activity.filtered - activity_.filtered));
  activity_ = activity;
}

// Counts the time since the last call for the present iteration.
void IterationMeter::pass(Nanoseconds now) {
  const Nanoseconds passed = now - since_;
  since_ = now;
  if (present_ == nullptr) return;
  if (activity_.moving) present_->moving.add(count_of(passed));
  if (activity_.moving || activity_.filtering) present_->busy.add(count_of(passed));
}

}  // namespace tailrace::impl
