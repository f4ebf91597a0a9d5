// Application: what a client's program needs of the simulated process that it runs in, in whichever place.
#pragma once

#include "channel/channel.hpp"
#include "client/client.hpp"
#include "testing/simulation/session_plan.hpp"

namespace tailrace::impl::simulation {

// Ends a program whose client has no server any more, and is not to get one (on_server_loss: fail).
struct ServerLost {};

class Application {
 public:
  virtual ~Application() = default;

  virtual int number() const = 0;
  virtual const ClientPlan& plan() const = 0;
  virtual Client& client() = 0;
  // The client's view.
  virtual Channel& client_channel() = 0;

  // kill -9, or, if it is `power`, a cut for all. Does nothing once the client has closed.
  virtual void die(bool power) = 0;
  // The program says that its client has been closed.
  virtual void closed() = 0;

  // Returns true if a server of this client has died while it was open, so that its last verbs may have been done
  // twice.
  virtual bool lost_a_server() const { return false; }
  // … and whether the client knows of the latest.
  virtual bool knows_of_losses() const { return true; }
  virtual bool guards_hold() const = 0;
  // After the end: whether the server's engine has nothing to do.
  virtual bool engine_is_idle() const = 0;
};

}  // namespace tailrace::impl::simulation
