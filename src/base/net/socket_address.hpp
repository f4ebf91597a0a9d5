// SocketAddress: "HOST:PORT" as people write it, and the address that sockets and UCX take.
//
// HOST is a name, an IPv4 address, or an IPv6 address in brackets ("[::1]:4711").
#pragma once

#include <sys/socket.h>

#include <string>

#include "base/status.hpp"

namespace tailrace::impl {

struct SocketAddress {
  sockaddr_storage storage{};
  socklen_t size = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
};

// Reads an address of `family`, AF_INET or AF_INET6. If HOST is a name it asks the system's resolver, which may take
// seconds. Fails with TAILRACE_INVALID_ARGUMENT if the text is wrong, and with TAILRACE_NOT_FOUND if no host has the
// name, or it has no address of this family.
Result<SocketAddress> resolve_address(const std::string& address, int family);

// Returns an address as resolve_address() reads it.
std::string text_of_address(const sockaddr_storage& address);

}  // namespace tailrace::impl
