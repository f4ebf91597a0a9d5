// LifePort: the TCP port by which others see whether a listener's process lives: as long as it does, its host does
// not refuse connections there.
//
// UCX listens on TCP, too, wherever it can; where it does not (RDMA alone), the port is held here. No byte is
// exchanged.
#pragma once

#include "base/net/socket_address.hpp"
#include "base/os/file_descriptor.hpp"

namespace tailrace::impl {

// Returns a socket that listens at `address`, so that no other process does; none if UCX, or another process, does
// already.
FileDescriptor held_port(const SocketAddress& address);

// Returns true if the host itself says that no process listens there. False also if it does not answer at once.
bool is_refused(const SocketAddress& address);

}  // namespace tailrace::impl
