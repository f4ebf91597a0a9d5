// StandIn: the port to what takes a dead server's place in the client's own process, for that client alone
// (`on_server_loss: sync`).
//
// Runs on the client's thread, whenever CorePlace lets it; knows the segment as a server does, by a view of its own.
#pragma once

#include "base/clock.hpp"

namespace tailrace::impl {

class StandIn {
 public:
  virtual ~StandIn() = default;
  // Takes what has been sent, and moves everything on. If nothing moves, sleeps until something does, for `at_most`.
  virtual void work(Nanoseconds at_most) = 0;
  // Returns true if everything that was sent has ended.
  virtual bool idle() const = 0;
  // The client has left. Returns whether nothing of it is left to do before `patience` is over; if not, storage may
  // still look at what this holds, so that it must not end.
  virtual bool finish(Nanoseconds patience) = 0;
};

}  // namespace tailrace::impl
