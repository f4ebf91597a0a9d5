// ServeLoop: what the server of a place does all its life: take what clients sent, move the sink on, sleep.
//
// Sleeps on the doorbell whenever there is nothing to do, and never polls. Knows neither the sink nor what runs it: a
// thread, a process, or a simulation.
#pragma once

#include <atomic>

#include "base/sync/doorbell.hpp"
#include "place/place.hpp"

namespace tailrace::impl {

class ServeLoop {
 public:
  // Both are borrowed.
  ServeLoop(Channel& channel, Doorbell& doorbell) : channel_(channel), doorbell_(doorbell) {}

  // The server: returns after stop(), when everything that was sent before it has ended.
  void run(RequestSink& sink);
  // Any thread, once.
  void stop();

 private:
  bool work(RequestSink& sink);

  Channel& channel_;
  Doorbell& doorbell_;
  std::atomic<bool> stopping_{false};  // set by stop(), read by the server
};

}  // namespace tailrace::impl
