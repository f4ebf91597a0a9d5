// The modules libtailrace_tcp.so and libtailrace_ucx.so as they look from outside: the options of a transport, and
// the one function that each module exports.
//
// The transports are built into modules, so that only processes that forward load OpenSSL, or need UCX.
// transport/loader loads them. Both sides come from the same build; the number in TransportModule shows the loader if
// they do not.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/status.hpp"
#include "transport/transport.hpp"

namespace tailrace::impl {

class Doorbell;

struct TransportOptions {
  // Over TCP: the keys of a listener; a caller calls with the first.
  std::vector<PreSharedKey> keys = {};
  // Over TCP: connections that have not shown yet that they have a key.
  size_t most_strangers = 256;
  size_t most_of_one_host = 64;
  Nanoseconds greeting = std::chrono::seconds(5);  // for connection and handshake
  // Over TCP: most connections of one peer, and most threads that move all connections; 0: as many as the cpus of the
  // calling thread allow.
  size_t connections = 1;
  Nanoseconds invitation = std::chrono::seconds(5);  // for a peer's further connections
  Nanoseconds silence = std::chrono::seconds(8);     // of a further connection, after which its peer counts as lost
  // Over UCX.
  std::string devices = {};              // "mlx5_0:1", as UCX_NET_DEVICES names them; empty: those that are no TCP's
  std::string transports = {};           // as UCX_TLS names them; empty: UCX chooses
  size_t most_eager = size_t{16} << 10;  // bulk data up to this size travel with the message
  bool ipv6 = false;                     // addresses are of IPv6 and not of IPv4
  bool others_use_ucx = false;           // set by the loader: UCX was in the process before
};

struct TransportModule {
  uint64_t build = 0;  // kTransportBuild, as the module was compiled
  // Returns the transport, which the caller owns, or null and sets `why`. The doorbell outlives it.
  Transport* (*open)(Doorbell& doorbell, const TransportOptions& options, Status& why) = nullptr;
};

// Changes with the layout of what crosses. Raise the first number if a meaning changes and no size does.
constexpr uint64_t kTransportBuild = uint64_t{5} << 48 | uint64_t{sizeof(TransportEvent)} << 32 |
                                     uint64_t{sizeof(TransportOptions)} << 16 | uint64_t{sizeof(Fault)};

// The exported function, of type TransportModuleFunction with C linkage. Its result is constant.
constexpr const char* kTransportModuleFunction = "tailrace_transport_module";
using TransportModuleFunction = const TransportModule*();

}  // namespace tailrace::impl
