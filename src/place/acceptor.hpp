// The acceptor port: how a server of several clients meets them, and how it sleeps. Sockets in place `core`
// (place/core/core_acceptor.hpp), messages in the simulator.
//
// The acceptor decides nothing about clients; it asks its host, who asks the server's core.
#pragma once

#include <optional>

#include "base/clock.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

class Acceptor {
 public:
  virtual ~Acceptor() = default;

  // Called at the start of a round. Whoever comes in here sees an awake server.
  virtual void begin_round() {}
  // Returns true if somebody can be let in by begin_round(): the server must not sleep.
  virtual bool has_news() const { return false; }
  // Returns true if somebody has connected, or waits to come in.
  virtual bool has_company() const = 0;
  // Returns true if clients of the next run wait for the end of this one.
  virtual bool next_run_waits() const { return false; }
  // Sleeps until something rings or `limit` has passed, and hears who has come and who has gone. `limit` of 0: does
  // not sleep; none: there is no limit.
  virtual void wait(std::optional<Nanoseconds> limit) = 0;

  // A client has broken the rules. Nothing more is taken from it.
  virtual void distrusted(int client, const Status& why) = 0;
  // The server is done with a client; `died`: it went without saying goodbye. Its segment goes now.
  virtual void dismissed(int client, bool died) = 0;
};

}  // namespace tailrace::impl
