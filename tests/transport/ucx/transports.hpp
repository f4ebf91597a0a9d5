// The transports by name, for tests that are the same for all. To test another one, add it here and to kTransports.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "base/sync/doorbell.hpp"
#include "transport/transport.hpp"
#include "transport/ucx/ucx_transport.hpp"

namespace tailrace::impl {

// ucx: what UCX chooses, on one machine shared memory; ucx_tcp: TCP, as between machines; ucx_eager: bulk data of up
// to 1 MiB travel with their message.
inline constexpr std::array kTransports{"ucx", "ucx_tcp", "ucx_eager"};
inline constexpr const char* kPeer = "transport_peer";  // a program beside the test, that is to be killed
inline constexpr std::array kKilled{"ucx", "ucx_tcp"};  // those that are tried with a peer that is killed

inline Result<std::unique_ptr<Transport>> make_transport(const std::string& name, Doorbell& doorbell) {
  TransportOptions options;
  if (name == "ucx_tcp") options.transports = "tcp";
  if (name == "ucx_ipv6") options.ipv6 = true;  // for tests of addresses
  if (name == "ucx_eager") options.most_eager = size_t{1} << 20;
  Result<std::unique_ptr<UcxTransport>> made = UcxTransport::create(doorbell, options);
  if (!made.ok()) return made.status();
  return std::unique_ptr<Transport>(std::move(made).value());
}

}  // namespace tailrace::impl
