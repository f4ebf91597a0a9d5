// The schedule stage: in which order ready requests leave. A seam: HBRR and TWINS come behind the same three
// functions, as slots (slots.hpp) do.
//
// Knows only ready requests, which do not depend on each other, so every order is right. Driven by the engine's
// thread.
#pragma once

#include "model/request.hpp"

namespace tailrace::impl {

class Scheduler {
 public:
  virtual ~Scheduler() = default;
  // Takes in a ready request; borrowed until it is handed out again.
  virtual void push(const Request* request) = 0;
  // The request to go next, or null if none is to go now.
  virtual const Request* pop() = 0;
};

}  // namespace tailrace::impl
