// ServeLoop: the server's loop. It takes verbs that clients sent, advances the sink, and sleeps.
//
// It sleeps on the doorbell whenever there is nothing to do, and never polls. It knows neither the sink nor what runs
// it: a thread, a process, or a simulation.
#pragma once

#include <atomic>

#include "base/sync/doorbell.hpp"
#include "place/place.hpp"

namespace tailrace::impl {

class ServeLoop {
 public:
  // Borrows both.
  ServeLoop(Channel& channel, Doorbell& doorbell) : channel_(channel), doorbell_(doorbell) {}

  // Runs the server. Returns after stop(), when all verbs sent before it have ended.
  void run(RequestSink& sink);
  // Ends run(). Any thread, once.
  void stop();

 private:
  bool work(RequestSink& sink);

  Channel& channel_;
  Doorbell& doorbell_;
  std::atomic<bool> stopping_{false};  // set by stop(), read by the server
};

}  // namespace tailrace::impl
