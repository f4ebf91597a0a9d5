// The place port: carries descriptors and bytes from a client to a RequestSink, and their ends back.
//
// A place knows neither the engine nor what the sink does; the sink does not know where it runs.
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

// The server's side, driven by the place on one thread.
class RequestSink {
 public:
  virtual ~RequestSink() = default;
  // Returns true if accept() may be called now.
  virtual bool ready() const = 0;
  virtual void accept(const Descriptor& descriptor) = 0;
  // Moves everything on as far as it goes without waiting.
  virtual void progress() = 0;
  // True when everything accepted has ended.
  virtual bool idle() const = 0;
  // In how long progress() must be called though nothing happens; none: it need not.
  virtual std::optional<Nanoseconds> due_in() const { return std::nullopt; }
};

// The client's side.
class Place {
 public:
  // Lets the server finish everything it was sent, and ends it.
  virtual ~Place() = default;
  virtual Channel& channel() = 0;
  // Keeps the pool's bytes mapped for as long as anybody has this, also after the place. None: they outlive
  // everything.
  virtual std::shared_ptr<void> memory() { return {}; }
  // The client is about to use a part of the pool that it has never used: makes sure that the system gives it.
  // TAILRACE_OUT_OF_MEMORY if it does not; the part must not be used then, and may be asked for again.
  virtual Status take(uint64_t /*offset*/, uint64_t /*bytes*/) { return {}; }
  // Wakes the server: to be called after a push into the ring.
  virtual void ring() = 0;
  // Returns true if the server sees the client's private memory, so that blocks may be borrowed, and not only the
  // pool.
  virtual bool reaches_client() const = 0;
  // The client: sleeps until ready() holds, which the server says by the client's bell. Fails with TAILRACE_TIMEOUT
  // after `timeout` (none: no limit but the place's own), and with TAILRACE_SERVER_LOST if nobody is left to wait
  // for.
  virtual Status wait(FunctionRef<bool()> ready, std::optional<Nanoseconds> timeout) = 0;
  // Why there is no server any more, and none will come; ok: there is one, as far as is known.
  virtual Status lost() const { return {}; }
  // How often another server has taken the place of one that had died.
  virtual uint32_t losses() const = 0;
  // After the last verb: nothing more is sent. A server of this client alone ends.
  virtual void stop() = 0;
  // One line for logs: where the server runs, on which cpu, with which memory.
  virtual const std::string& description() const = 0;
};

}  // namespace tailrace::impl
