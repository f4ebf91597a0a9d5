#include "engine/schedule/slots.hpp"

#include <algorithm>

namespace tailrace::impl {
namespace {

constexpr int kWeight = 4;  // weight of the latest time between phases: 1/kWeight

}  // namespace

void Slots::push(const Request* request) {
  if (request->phase > newest_) {
    newest_ = request->phase;
    phases_.push_back({.number = request->phase, .count = ++count_, .slot = std::nullopt, .held = {}});
  }
  const auto closed = std::find_if(phases_.begin(), phases_.end(),
                                   [request](const Phase& phase) { return phase.number == request->phase; });
  if (closed == phases_.end()) return next_.push(request);
  closed->held.push_back(request);
}

const Request* Slots::next(Nanoseconds now) {
  if (!phases_.empty()) look(now);
  return next_.next(now);
}

// Releases the phases that are due.
void Slots::look(Nanoseconds now) {
  begin(now);
  while (!phases_.empty() && (phases_.front().count + 2 <= count_)) {
    release(phases_.front());
    phases_.pop_front();
  }
  for (Phase& phase : phases_) {
    if (*phase.slot <= now) release(phase);
  }
  std::erase_if(phases_, [now](const Phase& phase) { return *phase.slot <= now; });
}

// Begins the phases that have come since the last look. If there are several, their beginnings are unknown, so they
// count as one.
void Slots::begin(Nanoseconds now) {
  if (phases_.empty() || phases_.back().slot) return;
  measure(now);
  for (Phase& phase : phases_) {
    if (!phase.slot) phase.slot = now + between_.value_or(Nanoseconds::zero()) / turn_.servers * turn_.server;
  }
}

void Slots::measure(Nanoseconds now) {
  if (begun_ && now > *begun_) {
    const Nanoseconds latest = now - *begun_;
    between_ = between_ ? *between_ + (latest - *between_) / kWeight : latest;
  }
  begun_ = now;
}

void Slots::hurry() {
  for (Phase& phase : phases_) release(phase);
  phases_.clear();
  next_.hurry();
}

void Slots::release(Phase& phase) {
  for (const Request* request : phase.held) next_.push(request);
  phase.held.clear();
}

std::optional<Nanoseconds> Slots::due() const {
  std::optional<Nanoseconds> least = next_.due();
  for (const Phase& phase : phases_) {
    const Nanoseconds slot = phase.slot.value_or(Nanoseconds::zero());
    least = std::min(least.value_or(slot), slot);
  }
  return least;
}

}  // namespace tailrace::impl
