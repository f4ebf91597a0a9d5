// Twins: the time window scheduler. It visits the data servers in turn, each for a window of time, in which only that
// server's requests leave; the window is waited out even if there are none, and others wait. Forwarders that visit in
// different orders (server_order.hpp) do so in the same windows, and so do not crowd one server.
//
// Windows lie on a grid of time: which one it is follows from the time alone. So forwarders whose clocks have a
// common origin stay in step, and idling leaves no window behind. What leaves together is of one server, and at most
// `batch` requests. Fences pass at once, in their order. No request waits without limit, even if the engine asks in
// the windows of one server only: a queue that was passed by for two rounds gives a batch out of turn
// (docs/schedulers.md has the bounds). It has no clock; the engine passes the time in.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>

#include "engine/schedule/scheduler.hpp"
#include "engine/schedule/server_order.hpp"

namespace tailrace::impl {

class Twins final : public Scheduler {
 public:
  static constexpr uint32_t kMostServers = 4096;  // others share the queues of these

  struct Options {
    uint32_t forwarder = 0;  // its number among those that write to the same servers
    uint32_t servers = 0;    // their number; 0: one more than the largest that a request has had
    Nanoseconds window = std::chrono::milliseconds(8);  // see set_window
    uint32_t batch = 16;
    Nanoseconds origin{0};  // beginning of a window, on the engine's clock
  };

  // Requires servers <= kMostServers, window >= 0 and batch > 0.
  explicit Twins(const Options& options);

  void push(const Request* request) override;
  const Request* next(Nanoseconds now) override;
  // Returns the beginning of the next window that something waits for.
  std::optional<Nanoseconds> due() const override;
  // A client waits: in the next round, windows without requests are skipped. The order of visits stays, and a
  // server with requests keeps its window, so forwarders go on to spread while there is enough to do. A forwarder
  // must not call it because clients await answers: they always do, and the windows are to their advantage.
  void hurry() override { hurry_ = true; }

  // Sets the length of windows. Zero: there are none, and requests leave as they came, still in batches.
  void set_window(Nanoseconds window);
  Nanoseconds window() const { return window_; }
  // Returns how many servers are visited.
  uint32_t servers() const { return static_cast<uint32_t>(queues_.size()); }

 private:
  static constexpr uint32_t kNoWindow = kMostServers;  // stands for the queue `free_` among servers

  // The requests for a server.
  struct Queue {
    std::deque<const Request*> held;
    std::optional<Nanoseconds> seen;  // when it was first found waiting, since it gave something
    bool late = false;                // it is in `late_`
  };

  Nanoseconds round() const { return window_ * servers(); }
  int64_t turn_at(Nanoseconds time) const;
  Nanoseconds begin_of(int64_t turn) const { return options_.origin + turn * window_; }
  uint32_t server_of(const Request& request);
  void look();
  std::optional<uint32_t> choose() const;
  const Request* give(uint32_t server);
  void release(Queue& queue);

  const Options options_;
  Nanoseconds window_;
  std::deque<Queue> queues_;  // by server; never none
  ServerOrder order_;
  size_t held_ = 0;                  // requests in `queues_`
  std::deque<const Request*> free_;  // requests that came, or were held, when there were no windows
  std::deque<const Request*> fences_;
  std::deque<uint32_t> late_;  // servers that were passed by for too long, each once
  Nanoseconds now_ = Nanoseconds::min();
  int64_t turn_ = 0;  // the window of the last look(); valid if `looked_`
  bool looked_ = false;
  uint32_t given_ = 0;   // requests of this batch …
  uint32_t giving_ = 0;  // … and their server
  bool hurry_ = false;   // hurry() was called since the last next()
  Nanoseconds hurried_until_ = Nanoseconds::min();
};

}  // namespace tailrace::impl
