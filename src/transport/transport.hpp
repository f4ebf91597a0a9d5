// Transport: the port for messages and bulk data between nodes. Each implementation has a folder beside this file.
//
// Peers exchange messages. A message is a short head and, if the sender wants, bulk data. The head arrives by itself;
// the bulk data wait at the sender until the receiver has memory for them and calls receive(), so a receiver decides
// how much memory it uses. Heads of one peer arrive in any order, each at most once, unchanged: authentication is the
// task of transport/secure.
//
// All calls come from one thread. No call blocks but wait(). poll() reports everything that happens; the transport
// rings the doorbell given at its creation when poll() may have something to report.
#pragma once

#include <sys/uio.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

// A connection to another process. Numbers are not reused.
using PeerId = uint64_t;

// A key that both ends have; `identity` is public.
struct PreSharedKey {
  std::string identity;
  std::array<unsigned char, 32> secret = {};
};

struct TransportEvent {
  enum class Kind : uint8_t {
    accepted,   // another process has connected to this listener; `text`: its address, for logs
    connected,  // a connection that connect() began is there
    message,    // a head has arrived, with `bulk` bytes that wait for receive() or refuse()
    sent,       // a send has ended, and its memory is free; `status`
    received,   // the bulk data of receive() are there, or are not; `status`
    refused,  // a stranger without a key tried to connect, or was too slow; `text`: its address, `status`: why. Of no
              // peer, for logs
    lost      // the connection is gone, or could not be made; `status`. The last event of its peer, after the
              // ends of all its sends and receives. ECONNREFUSED only if the peer's host says that no process
              // listens at the address: the listener is gone
  };
  Kind kind = Kind::lost;
  PeerId peer = 0;
  std::vector<std::byte> head = {};
  uint64_t bulk = 0;     // bytes
  uint64_t arrival = 0;  // names the bulk data of this message
  uint64_t tag = 0;      // of the send or receive
  Status status = {};    // does not name the peer if it has an address: its owner does
  std::string text = {};
};

class Transport {
 public:
  static constexpr size_t kMostHead = size_t{32} << 10;  // bytes of a head
  static constexpr size_t kMostSegments = 1024;          // of the bulk data of one message

  virtual ~Transport() = default;

  // Listens at "HOST:PORT"; port 0: one that is free. Returns the address with the port in use.
  virtual Result<std::string> listen(const std::string& address) = 0;
  // Begins a connection to "HOST:PORT". It ends with `connected` or `lost`.
  virtual PeerId connect(const std::string& address) = 0;
  // Ends a connection. Reports `sent` and `received` for what still uses memory, with failure, and no `lost`. Does
  // nothing if the connection is unknown or lost.
  virtual void close(PeerId peer) = 0;

  // Sends a message. `head` is copied; `bulk` is borrowed until `sent` with this tag. Requires that poll() has
  // reported the connection, and not its loss. If it is lost nevertheless, this and receive() end with failure,
  // before `lost`.
  virtual void send(PeerId peer, std::span<const std::byte> head, std::span<const iovec> bulk, uint64_t tag) = 0;
  // Fetches the bulk data of a message into `into`, borrowed until `received` with this tag. `into` has exactly the
  // size of the data.
  virtual void receive(PeerId peer, uint64_t arrival, std::span<std::byte> into, uint64_t tag) = 0;
  // Drops the bulk data of a message. Its sender sees `sent`.
  virtual void refuse(PeerId peer, uint64_t arrival) = 0;

  // Appends what has happened to `events`.
  virtual void poll(std::vector<TransportEvent>& events) = 0;
  // Sleeps until poll() may have something, `limit` at most. May return early.
  virtual void wait(Nanoseconds limit) = 0;

  // Announces memory that most bulk data will come from or go to, so that the transport can register it. At most
  // once; on any thread. The memory outlives the transport.
  virtual void use_memory(std::span<std::byte> memory) = 0;

  // Replaces the keys, for connections that begin from now on; those that have begun go on with theirs. At least one.
  // If it fails, the keys stay. A transport without keys ignores them.
  virtual Status use_keys(std::vector<PreSharedKey>) { return {}; }
};

}  // namespace tailrace::impl
