// Sends and receives fixed-size messages over a SOCK_SEQPACKET socket, each with at most one file descriptor; and
// puts data of variable size into memory files.
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

// Sends all of `message`, with `fd` unless it is -1. `again`: the socket is full. `gone`: the other side has closed.
Delivery send_message(int socket, std::span<const std::byte> message, int fd);
// Receives one message, which must have the size of `message`, and its descriptor, if there is one. `again`: there is
// no message yet. `gone`: the other side has closed, or sent anything else.
Delivery receive_message(int socket, std::span<std::byte> message, FileDescriptor& fd);

// Makes a memory file that contains `bytes`.
Result<FileDescriptor> to_memory_file(std::span<const std::byte> bytes);
// Returns the first `size` bytes of the memory file. Fails with TAILRACE_INTERNAL if it has fewer, or is no memory
// file.
Result<std::vector<std::byte>> from_memory_file(int fd, uint64_t size);

}  // namespace tailrace::impl
