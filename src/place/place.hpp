// The place port: carries descriptors and bytes from a client to a RequestSink, and their ends back.
//
// A place knows neither the engine nor what the sink does; the sink does not know where it runs.
#pragma once

#include <string>

#include "model/descriptor_wire.hpp"
#include "place/channel.hpp"

namespace tailrace::impl {

// The server's side, driven by the place on one thread.
class RequestSink {
 public:
  virtual ~RequestSink() = default;
  // Whether accept() may be called now.
  virtual bool ready() const = 0;
  virtual void accept(const Descriptor& descriptor) = 0;
  // Moves everything on as far as it goes without waiting.
  virtual void progress() = 0;
  // True when everything accepted has ended.
  virtual bool idle() const = 0;
};

// The client's side.
class Place {
 public:
  // Lets the server finish everything it was sent, and ends it.
  virtual ~Place() = default;
  virtual Channel& channel() = 0;
  // Wakes the server: to be called after a push into the ring.
  virtual void ring() = 0;
  // One line for logs: where the server runs, on which cpu, with which memory.
  virtual const std::string& description() const = 0;
};

}  // namespace tailrace::impl
