// Trace: what the simulated program did when, as Chrome/Perfetto JSON.
//
// It has only the program's own events: computing, handing over, waiting. The library's trace has what happens to a
// block afterwards. Events are kept in preallocated memory, and written after the run.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "lab/pattern/clock.hpp"

namespace bench {

enum class EventKind { compute, handover, wait };

struct Event {
  EventKind kind;
  const char* name;   // a literal: "write", "flush", …
  int variable;       // -1: none
  int64_t iteration;  // -1: none
  uint64_t bytes;     // 0: none
  double begin, end;  // of now()
};

class Trace {
 public:
  // Keeps nothing if `most` is 0. Events after the first `most` are only counted.
  explicit Trace(size_t most) : most_(most) { events_.reserve(most); }

  void add(const Event& event) {
    if (events_.size() < most_) {
      events_.push_back(event);
    } else if (most_ > 0) {
      ++dropped_;
    }
  }
  bool on() const { return most_ > 0; }
  const std::vector<Event>& events() const { return events_; }

  // Returns the text of the file.
  std::string json(const std::string& program) const;

 private:
  const size_t most_;
  uint64_t dropped_ = 0;
  std::vector<Event> events_;
};

// An event that lasts as long as this object, but is left out if the block throws.
class Span {
 public:
  Span(Trace& trace, EventKind kind, const char* name, int variable, int64_t iteration, uint64_t bytes = 0)
      : trace_(trace), event_{kind, name, variable, iteration, bytes, now(), 0} {}
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  // Ends the event; returns its length in seconds.
  double end() {
    event_.end = now();
    trace_.add(event_);
    return event_.end - event_.begin;
  }

 private:
  Trace& trace_;
  Event event_;
};

}  // namespace bench
