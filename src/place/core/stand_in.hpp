// StandIn: the port to a server that replaces a dead one in the client's own process, for that client alone
// (`on_server_loss: sync`).
//
// It runs on the client's thread when CorePlace calls it. It has a view of its own of the segment, as a server does.
#pragma once

#include "base/clock.hpp"
#include "base/function_ref.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

class StandIn {
 public:
  virtual ~StandIn() = default;
  // Takes the verbs that were sent, and advances all requests. If none advances and done() does not hold, sleeps
  // until one does, for at most `at_most`. done() may call this.
  virtual void work(FunctionRef<bool()> done, Nanoseconds at_most) = 0;
  // Returns true if all verbs that were sent have ended.
  virtual bool idle() const = 0;
  // Returns why it serves the client no longer, or ok.
  virtual Status lost() const = 0;
  // Ends the work for the client, which has left. Returns true if all of it is done before `patience` is over. If
  // not, storage may still access this object's memory, so it must not be destroyed.
  virtual bool finish(Nanoseconds patience) = 0;
};

}  // namespace tailrace::impl
