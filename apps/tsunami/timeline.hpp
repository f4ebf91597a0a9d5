// Timeline: the times at which the run computed and waited for output.
//
// The main loop writes it, the report reads it. Events are only appended.
#pragma once

#include <chrono>
#include <cstdint>
#include <vector>

#include "output.hpp"

namespace tsunami {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

struct Event {
  enum class Kind { compute, pack, output, close };
  Kind kind;
  std::int64_t iteration;     // that is computed or written
  double start, end;          // seconds since the beginning of the run
  Output::Counters counters;  // the output's, at `end`; only of output and close
};

class Timeline {
 public:
  // Notes that the time since the last note was spent on `kind`.
  void note(Event::Kind kind, std::int64_t iteration, Output::Counters counters = {}) {
    const double now = watch_.seconds();
    events_.push_back({kind, iteration, last_, now, std::move(counters)});
    last_ = now;
  }

  double total(Event::Kind kind) const {
    double sum = 0;
    for (const Event& event : events_) sum += event.kind == kind ? event.end - event.start : 0.0;
    return sum;
  }
  // Computing is the solver's steps and the packing of fields; waiting is every call of the output, including close.
  double computing() const { return total(Event::Kind::compute) + total(Event::Kind::pack); }
  double waiting() const { return total(Event::Kind::output) + total(Event::Kind::close); }
  double now() const { return watch_.seconds(); }
  double end() const { return last_; }
  const std::vector<Event>& events() const { return events_; }

 private:
  Stopwatch watch_;
  double last_ = 0;
  std::vector<Event> events_;
};

}  // namespace tsunami
