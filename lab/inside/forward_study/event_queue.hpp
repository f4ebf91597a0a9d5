// EventQueue: the events of the forwarding study, in the order of their times; those of one time in the order in
// which they were made.
//
// It advances the simulated clock to each event. Everything happens on the caller's thread, so a run depends on
// nothing but its parameters and its seed. It never reads real time.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "testing/sim_clock.hpp"

namespace tailrace::impl::study {

class EventQueue {
 public:
  const Clock& clock() const { return clock_; }
  Nanoseconds now() const { return clock_.now(); }

  // Calls `action` at `time`, which is not in the past.
  void at(Nanoseconds time, std::function<void()> action) {
    TAILRACE_REQUIRE(time >= now());
    events_.push_back({time, next_++, std::move(action)});
    std::push_heap(events_.begin(), events_.end(), is_later);
  }

  // Carries out the next event. Returns false if there is none.
  bool run_one() {
    if (events_.empty()) return false;
    std::pop_heap(events_.begin(), events_.end(), is_later);
    const Event event = std::move(events_.back());
    events_.pop_back();
    clock_.advance(event.time - now());
    ++count_;
    event.action();
    return true;
  }

  // Returns how many events there have been.
  uint64_t count() const { return count_; }

 private:
  struct Event {
    Nanoseconds time;
    uint64_t number;
    std::function<void()> action;
  };

  static bool is_later(const Event& one, const Event& other) {
    return one.time != other.time ? one.time > other.time : one.number > other.number;
  }

  SimClock clock_;
  std::vector<Event> events_;  // a heap, the next one first; bounded by what clients have under way
  uint64_t next_ = 0;
  uint64_t count_ = 0;
};

}  // namespace tailrace::impl::study
