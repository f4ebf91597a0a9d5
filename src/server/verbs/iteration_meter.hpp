// IterationMeter: measures for a server what each iteration of its client costs, and notes it in the channel's
// IterationLog.
//
// A client's time is cut where an iteration begins, that is, where the first of its verbs is taken: what the server
// does from there until the next one begins counts as that iteration's turn. Reads the clock only there, at an
// iteration's end, and when the server begins or ceases to be busy. The server's thread.
#pragma once

#include <cstdint>

#include "base/clock.hpp"
#include "channel/iteration_log.hpp"

namespace tailrace::impl {

class IterationMeter {
 public:
  // The present activity of the server.
  struct Activity {
    bool moving = false;      // transfers are under way
    bool filtering = false;   // chunks are with the filters
    Nanoseconds filtered{0};  // how long filters have worked, ever

    bool operator==(const Activity&) const = default;
  };

  // `clock`, and the memory that `log` refers to, outlive the meter. Goes on where an earlier server has stopped.
  // `filtered`: how long filters have worked before.
  IterationMeter(IterationLog log, const Clock& clock, Nanoseconds filtered);

  // Something of the iteration has been taken.
  void begin(int64_t iteration);
  void took(int64_t iteration, uint64_t bytes);
  void stored(int64_t iteration, uint64_t bytes);
  // Its end has been taken. `waited`: for memory, by its client.
  void end(int64_t iteration, Nanoseconds waited);
  void left(int64_t iteration, IterationRecord::Outcome outcome, Nanoseconds when);
  // Whenever it may have changed.
  void look(const Activity& activity);

 private:
  void pass(Nanoseconds now);

  IterationLog log_;
  const Clock& clock_;
  IterationRecord* present_;  // whose turn it is; null: none has begun
  Activity activity_;
  Nanoseconds since_{0};  // up to here all is noted
};

}  // namespace tailrace::impl
