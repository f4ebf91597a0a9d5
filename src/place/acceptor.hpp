// Acceptor: the port by which a server of several clients meets them, and sleeps. Sockets in place `core`
// (place/core/core_acceptor.hpp), messages in the simulator.
//
// The acceptor decides nothing about clients; it asks its host, which asks the server's core.
#pragma once

#include <optional>

#include "base/clock.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

class Acceptor {
 public:
  virtual ~Acceptor() = default;

  // Called at the start of a round. Clients that are let in here see an awake server.
  virtual void begin_round() {}
  // Returns true if begin_round() can let a client in: the server must not sleep.
  virtual bool has_news() const { return false; }
  // Returns true if there is a new connection, or a client that waits to be let in.
  virtual bool has_company() const = 0;
  // Returns true while the server begins to serve a new client: it must not end.
  virtual bool lets_in() const { return false; }
  // Returns true if clients of the next run wait for the end of this one.
  virtual bool next_run_waits() const { return false; }
  // Sleeps until an event or until `limit` has passed, and notes which clients have come and gone. `limit` of 0: does
  // not sleep; none: no limit.
  virtual void wait(std::optional<Nanoseconds> limit) = 0;

  // Notes that a client has broken the rules. The server takes nothing more from it.
  virtual void distrusted(int client, const Status& why) = 0;
  // Notes that the server has finished with a client; `died`: it left without saying goodbye. Removes its segment.
  virtual void dismissed(int client, bool died) = 0;
};

}  // namespace tailrace::impl
