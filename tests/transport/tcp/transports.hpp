// The transports by name, for the tests in ../contract, which are the same for all: here the one over TCP.
#pragma once

#include <array>
#include <memory>
#include <string>

#include "base/sync/doorbell.hpp"
#include "transport/tcp/tcp_transport.hpp"
#include "transport/transport.hpp"

namespace tailrace::impl {

inline constexpr std::array kTransports{"tcp", "tcp2", "tcp4"};  // with so many connections for each peer
inline constexpr const char* kPeer = "tcp_transport_peer";       // a program beside the test, that is to be killed
inline constexpr std::array kKilled{"tcp", "tcp4"};              // those that are tried with a peer that is killed

inline PreSharedKey test_key(unsigned char number = 1) {
  PreSharedKey key;
  key.identity = "0123-4567-89ab-cd0" + std::to_string(number);
  key.secret.fill(number);
  return key;
}

inline Result<std::unique_ptr<Transport>> make_transport(const std::string& name, Doorbell& doorbell) {
  const size_t connections = name == "tcp" ? 1 : static_cast<size_t>(name.back() - '0');
  Result<std::unique_ptr<TcpTransport>> made =
      TcpTransport::create(doorbell, {.keys = {test_key()}, .connections = connections});
  if (!made.ok()) return made.status();
  return std::unique_ptr<Transport>(std::move(made).value());
}

}  // namespace tailrace::impl
