// The schedule stage: in which order, and when, requests leave that have been gathered and can be merged. A seam:
// HBRR and TWINS come behind these functions, as slots (slots.hpp) do.
//
// Knows only ready requests, which do not depend on each other, so every order is right. What next() hands out before
// it returns null is merged together and begins. Driven by the engine's thread; knows the time only as it is told.
#pragma once

#include <optional>

#include "base/clock.hpp"
#include "model/request.hpp"

namespace tailrace::impl {

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  // Takes in a ready request; borrowed until ended().
  virtual void push(const Request* request) = 0;
  // It is `now`, never earlier than the time before: returns the request to go next, or null if none is to go yet.
  virtual const Request* next(Nanoseconds now) = 0;
  // A request that next() has handed out has ended.
  virtual void ended(const Request& /*request*/) {}
  // When next() may have something though nothing else happens; none: it will not. A time that has passed: at once.
  virtual std::optional<Nanoseconds> due() const { return std::nullopt; }
  // Somebody waits for an end, and nobody knows for which: lets go all that is held.
  virtual void hurry() {}
};

}  // namespace tailrace::impl
