// Peer: what the transport over UCX keeps for one connection. Plain data; UcxTransport changes it.
//
// A connection that fails, or that its owner closes, stays until UCX has given back all memory that it uses.
#pragma once

#include <ucp/api/ucp.h>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/net/socket_address.hpp"
#include "base/status.hpp"
#include "transport/transport.hpp"

namespace tailrace::impl {

// Bulk data that UCX keeps: the data themselves, or its note of data that wait at the sender.
struct Arrival {
  void* data = nullptr;
  size_t bytes = 0;
  bool waits_at_sender = false;
};

// The halves of a message whose head was too long for a header. They arrive in any order.
struct SplitMessage {
  std::optional<std::vector<std::byte>> head = {};
  uint64_t announced = 0;  // bytes of bulk data, as the head's message says
  std::optional<Arrival> bulk = {};
};

struct Peer {
  enum class Phase : uint8_t { connecting, open, ending };

  PeerId id = 0;
  std::string address = {};
  SocketAddress where = {};     // of a listener, once it is resolved
  ucp_ep_h endpoint = nullptr;  // null: none yet, or UCX has been told to close it
  Phase phase = Phase::connecting;
  Status loss = {};          // why it is ending, if its owner did not close it
  bool close_begun = false;  // UCX has been told
  bool is_closed = false;    // UCX has forgotten the endpoint
  uint32_t under_way = 0;    // sends and receives that use memory
  uint64_t sent = 0;         // messages that were sent in halves
  std::unordered_map<uint64_t, Arrival> arrivals = {};
  std::unordered_map<uint64_t, SplitMessage> halves = {};
};

}  // namespace tailrace::impl
