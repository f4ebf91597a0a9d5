// Application: what a client's program needs from the simulated process that it runs in, in either place.
#pragma once

#include "channel/channel.hpp"
#include "client/client.hpp"
#include "testing/simulation/session_plan.hpp"

namespace tailrace::impl::simulation {

// Ends a program whose client has lost its server and gets no other (on_server_loss: fail).
struct ServerLost {};

class Application {
 public:
  virtual ~Application() = default;

  virtual int number() const = 0;
  virtual const ClientPlan& plan() const = 0;
  virtual Client& client() = 0;
  // Returns the client's view of the channel.
  virtual Channel& client_channel() = 0;

  // Kills the process as by kill -9; if `power`, cuts the power of all. Does nothing once the client has closed.
  virtual void die(bool power) = 0;
  // Reports that the program's client was closed.
  virtual void closed() = 0;

  // Returns true if a server of this client has died while it was open, so that its last verbs may have run twice.
  virtual bool lost_a_server() const { return false; }
  // Returns true if the client knows of the latest such death.
  virtual bool knows_of_losses() const { return true; }
  virtual bool guards_hold() const = 0;
  // Returns true if the server's engine has nothing to do. Call it after the end.
  virtual bool engine_is_idle() const = 0;
};

}  // namespace tailrace::impl::simulation
