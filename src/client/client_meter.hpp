// ClientMeter: counts and times what the client's thread does, in all and by variable, and notes it for a trace of
// the run. It is always on, so it only adds and reads the clock. Runs on the client's thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/clock.hpp"
#include "base/histogram.hpp"
#include "base/status.hpp"
#include "model/shapes.hpp"
#include "model/trace.hpp"

namespace tailrace::impl {

inline uint64_t count_of(Nanoseconds time) { return static_cast<uint64_t>(time.count()); }

// Counters that the client's thread keeps; tailrace_stats says what they mean.
struct ClientCounters {
  uint64_t blocks_accepted = 0;
  uint64_t blocks_dropped = 0;
  uint64_t blocks_written_through = 0;
  uint64_t bytes_accepted = 0;
  uint64_t iterations_ended = 0;
  uint64_t iterations_dropped = 0;
  uint64_t iterations_peak = 0;  // unfinished at once
  uint64_t signals = 0;
  Nanoseconds copying{0};
  Nanoseconds waiting_memory{0};
  Nanoseconds waiting_ticket{0};
};

// Counters of one variable.
struct ClientVariableCounters {
  uint64_t blocks_accepted = 0;
  uint64_t blocks_refused = 0;  // because of `when_full: drop`
  uint64_t blocks_written_through = 0;
  uint64_t bytes_accepted = 0;
  Histogram handover;  // of a block: in write, in alloc and commit, or in borrow
  Histogram waiting;   // in a wait for one of its tickets that had not ended, and in read
};

class ClientMeter {
 public:
  using What = TraceEvent::What;

  // Borrows all its arguments. `shapes` has `variables` variables.
  ClientMeter(const Clock& clock, TraceLog& trace, const Shapes& shapes, size_t variables)
      : clock_(clock), shapes_(shapes), trace_(trace), variables_(variables) {}

  Nanoseconds now() const { return clock_.now(); }
  // Returns true if calls are noted for a trace.
  bool traces() const { return trace_.on(); }

  ClientCounters& counters() { return total_; }
  const ClientCounters& counters() const { return total_; }
  ClientVariableCounters& counters(uint32_t variable) { return variables_[variable]; }
  const ClientVariableCounters& counters(uint32_t variable) const { return variables_[variable]; }
  // Returns how long the client has waited for the server to make room, so far.
  Nanoseconds waited_for_room() const { return total_.waiting_memory; }

  void count_accepted(uint32_t variable);
  // Counts a block that was not accepted, if `why` says that its iteration is dropped.
  void count_if_dropped(uint32_t variable, const Status& why);
  void count_written_through(uint32_t variable);

  // Notes the end of a call that handed a block over. `before`: time that earlier calls have spent on this block.
  void end_handover(What what, uint32_t variable, int64_t iteration, Nanoseconds start, Nanoseconds before);
  // Notes the end of a wait for one of the variable's tickets, or for a ticket of no variable (kNone).
  void end_wait(uint32_t variable, Nanoseconds start);
  // Notes a call in the trace. `variable`: kNone if the call concerns none.
  void note(What what, uint32_t variable, int64_t iteration, Nanoseconds start, Nanoseconds end);
  // Notes a call about a raw file that has ended just now.
  void note_file(What what, uint32_t file, uint64_t bytes, Nanoseconds start);

 private:
  // Constant after construction.
  const Clock& clock_;
  const Shapes& shapes_;

  // Used by the client's thread only.
  TraceLog& trace_;
  ClientCounters total_;
  std::vector<ClientVariableCounters> variables_;  // by variable
};

}  // namespace tailrace::impl
