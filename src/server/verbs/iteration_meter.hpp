// IterationMeter: measures what each iteration of a client costs its server, and notes it in the channel's
// IterationLog.
//
// It divides the server's time at the moments when the server takes the first verb of an iteration: from there until
// the next iteration begins, what the server does counts for that iteration. It reads the clock only there, at an
// iteration's end, and when the server becomes busy or idle. Runs on the server's thread.
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
    Nanoseconds filtered{0};  // how long filters have worked, in all

    bool operator==(const Activity&) const = default;
  };

  // `clock`, and the memory that `log` refers to, must outlive the meter. Continues where an earlier server has
  // stopped. `filtered`: how long filters have worked before.
  IterationMeter(IterationLog log, const Clock& clock, Nanoseconds filtered);

  // Notes that the server has taken a verb of the iteration.
  void begin(int64_t iteration);
  void took(int64_t iteration, uint64_t bytes);
  void stored(int64_t iteration, uint64_t bytes);
  // Notes that the server has taken the iteration's end. `waited`: time that its client waited for memory.
  void end(int64_t iteration, Nanoseconds waited);
  void left(int64_t iteration, IterationRecord::Outcome outcome, Nanoseconds when);
  // Call it whenever the activity may have changed.
  void look(const Activity& activity);

 private:
  void pass(Nanoseconds now);

  IterationLog log_;
  const Clock& clock_;
  IterationRecord* present_;  // the iteration that the time counts for; null: none has begun
  Activity activity_;
  Nanoseconds since_{0};  // all time before this is noted
};

}  // namespace tailrace::impl
