// Slots: holds writes back until it is this server's turn, so that several servers of one storage write in turn and
// not all at once.
//
// A phase (Request::phase) is what a program hands over between two computations. Its requests begin when the phase
// has begun and a share of the time between phases has passed: server s of S begins at s/S of it. That time is
// estimated as an exponential mean of the times from phase to phase, in which the latest counts a fourth. Nothing is
// held while the time is unknown, or once the second phase after the held one has begun. It decides when requests go,
// and leaves their order to the scheduler behind it.
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
  // This server's number among the storage's servers, and their number.
  struct Turn {
    int server = 0;
    int servers = 1;
  };

  // Borrows `next`.
  Slots(Scheduler& next, Turn turn) : next_(next), turn_(turn) {}

  // The first request of a phase with a higher number than all before begins the phase, at the time of the following
  // next().
  void push(const Request* request) override;
  const Request* next(Nanoseconds now) override;
  void ended(const Request& request) override { next_.ended(request); }
  std::optional<Nanoseconds> due() const override;
  // Releases all held requests, and those of begun phases that come later.
  void hurry() override;
  // Returns the estimated time between phases; none: not known yet.
  std::optional<Nanoseconds> between() const { return between_; }

 private:
  // A phase whose slot has not come.
  struct Phase {
    uint64_t number = 0;
    uint64_t count = 0;               // its ordinal among all phases
    std::optional<Nanoseconds> slot;  // none: next() has not seen the phase yet
    std::vector<const Request*> held;
  };

  void look(Nanoseconds now);
  void begin(Nanoseconds now);
  void measure(Nanoseconds now);
  void release(Phase& phase);

  Scheduler& next_;
  const Turn turn_;
  std::deque<Phase> phases_;          // at most two after next(), in the order in which they began
  uint64_t newest_ = 0;               // number of the latest phase; 0: none yet
  uint64_t count_ = 0;                // of phases
  std::optional<Nanoseconds> begun_;  // when the latest phase began
  std::optional<Nanoseconds> between_;
};

}  // namespace tailrace::impl
