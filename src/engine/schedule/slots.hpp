// Slots: holds writes back until it is this server's turn, so that several servers of one storage write one after the
// other and not all at once.
//
// Requests of a phase (Request::phase: what a program hands over between two computations) begin when the phase has
// begun and a share of the time between phases has passed: server s of S begins at s/S of it. That time is estimated:
// an exponential mean of the times from phase to phase, in which the latest counts a fourth. While it is not known,
// and when a phase is over so far that the next but one has begun, nothing is held. Decides when, and leaves the
// order to the scheduler behind it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "engine/schedule/scheduler.hpp"

namespace tailrace::impl {

class Slots final : public Scheduler {
 public:
  // Which of the storage's servers this is, and how many there are.
  struct Turn {
    int server = 0;
    int servers = 1;
  };

  // `next` is borrowed.
  Slots(Scheduler& next, Turn turn) : next_(next), turn_(turn) {}

  // The first request of a phase with a higher number than all before begins it; its moment is that of the next
  // call of next().
  void push(const Request* request) override;
  const Request* next(Nanoseconds now) override;
  void ended(const Request& request) override { next_.ended(request); }
  std::optional<Nanoseconds> due() const override;
  // Also lets go whatever comes of the phases that have begun.
  void hurry() override;
  // The estimated time between phases; none: not known yet.
  std::optional<Nanoseconds> between() const { return between_; }

 private:
  // One whose slot has not come.
  struct Phase {
    uint64_t number = 0;
    uint64_t count = 0;               // of all phases
    std::optional<Nanoseconds> slot;  // none: next() has not seen it yet
    std::vector<const Request*> held;
  };

  void look(Nanoseconds now);
  void begin(Nanoseconds now);
  void measure(Nanoseconds now);
  void release(Phase& phase);

  Scheduler& next_;
  const Turn turn_;
  std::deque<Phase> phases_;          // at most two after next(), in the order in which they began
  uint64_t newest_ = 0;               // number of the latest phase; 0: there was none
  uint64_t count_ = 0;                // of phases
  std::optional<Nanoseconds> begun_;  // the latest
  std::optional<Nanoseconds> between_;
};

}  // namespace tailrace::impl
