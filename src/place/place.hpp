// Place: the port that carries descriptors and bytes from a client to its server, and their ends back.
//
// A place knows neither the engine nor what the server does; the server does not know where it runs.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/clock.hpp"
#include "base/function_ref.hpp"
#include "base/status.hpp"
#include "channel/channel.hpp"
#include "model/wire/descriptor_wire.hpp"

namespace tailrace::impl {

class Place {
 public:
  // Lets the server finish all verbs that it was sent, and ends it.
  virtual ~Place() = default;
  virtual Channel& channel() = 0;
  // Returns an owner that keeps the pool's bytes mapped, even after the place's end. Null: they outlive everything.
  virtual std::shared_ptr<void> memory() { return {}; }
  // Makes sure that the system provides a part of the pool that the client is about to use for the first time. Fails
  // with TAILRACE_OUT_OF_MEMORY if it does not; the part must not be used then, and may be requested again.
  virtual Status take(uint64_t /*offset*/, uint64_t /*bytes*/) { return {}; }
  // Wakes the server. Called after each push into the ring.
  virtual void ring() = 0;
  // Returns true if the server can access the client's private memory, so that blocks outside the pool may be
  // borrowed.
  virtual bool reaches_client() const = 0;
  // Sleeps until ready() holds; the server rings the client's bell for that. Only the client. Fails with
  // TAILRACE_TIMEOUT after `timeout` (none: only the place's own limit), and with TAILRACE_SERVER_LOST if there is no
  // server left to wait for.
  virtual Status wait(FunctionRef<bool()> ready, std::optional<Nanoseconds> timeout) = 0;
  // Returns why there is no server any more, and none will come; ok if there is one, as far as is known.
  virtual Status lost() const { return {}; }
  // Returns how often another server has replaced a dead one.
  virtual uint32_t losses() const = 0;
  // Announces that no verb follows. A server that serves only this client ends.
  virtual void stop() = 0;
  // Returns one line for logs: the server's place, its cpu, its memory.
  virtual const std::string& description() const = 0;
};

}  // namespace tailrace::impl
