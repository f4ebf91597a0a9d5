// Scheduler: the schedule stage decides in which order, and when, gathered requests leave to be merged. A seam: fifo,
// hbrr, twins, adaptive and slots are implemented behind these functions.
//
// It knows only ready requests, which do not depend on each other, so every order is correct. The requests that
// next() returns before it returns null are merged together and begin. The engine's thread drives it and passes the
// time in.
#pragma once

#include <optional>

#include "base/clock.hpp"
#include "model/request.hpp"

namespace tailrace::impl {

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  // Takes a ready request; borrowed until ended().
  virtual void push(const Request* request) = 0;
  // Returns the request to go next, or null if none may go yet. `now` never decreases between calls.
  virtual const Request* next(Nanoseconds now) = 0;
  // Notes the end of a request that next() has returned.
  virtual void ended(const Request& /*request*/) {}
  // Returns when next() may have something even if nothing else happens; none: it will not. A time in the past: at
  // once.
  virtual std::optional<Nanoseconds> due() const { return std::nullopt; }
  // A client waits, and we do not know for which request: the scheduler holds nothing that the storage could take.
  // Each scheduler decides for how long this covers later requests; a caller that still waits calls it again.
  virtual void hurry() {}
};

}  // namespace tailrace::impl
