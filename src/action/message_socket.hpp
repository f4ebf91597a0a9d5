// One fixed-size message over a SOCK_SEQPACKET socket, with at most one file descriptor; and bytes in memory files,
// for what has no fixed size.
//
// Used by the server, whose sockets never block, and by the plugin host, whose socket does. Raises no signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/os/file_descriptor.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

enum class Delivery { done, again, gone };

// Sends all of `message`, with `fd` if it is not -1. `again`: the socket is full. `gone`: the other side is.
Delivery send_message(int socket, std::span<const std::byte> message, int fd);
// Receives one message that must have the size of `message`, and its descriptor, if there is one. `again`: there is
// none yet. `gone`: the other side has closed, or sent something else.
Delivery receive_message(int socket, std::span<std::byte> message, FileDescriptor& fd);

// A new memory file that holds `bytes`.
Result<FileDescriptor> to_memory_file(std::span<const std::byte> bytes);
// The first `size` bytes of the memory file. TAILRACE_INTERNAL if it has fewer, or is something else.
Result<std::vector<std::byte>> from_memory_file(int fd, uint64_t size);

}  // namespace tailrace::impl
