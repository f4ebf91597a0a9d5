#include "transport/ucx/life_port.hpp"

#include <poll.h>

#include <cerrno>
#include <chrono>

#include "base/deadline.hpp"

namespace tailrace::impl {
namespace {

// A host that refuses answers at once, and the caller has just heard of the failure of a connection.
constexpr auto kMostProbing = std::chrono::milliseconds(100);

FileDescriptor new_socket(const SocketAddress& address) {
  return FileDescriptor(::socket(address.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

}  // namespace

FileDescriptor held_port(const SocketAddress& address) {
  FileDescriptor socket = new_socket(address);
  const bool holds =
      socket.is_open() && ::bind(socket.get(), address.get(), address.size) == 0 && ::listen(socket.get(), 1) == 0;
  return holds ? std::move(socket) : FileDescriptor();
}

bool is_refused(const SocketAddress& address) {
  const FileDescriptor socket = new_socket(address);
  if (!socket.is_open()) return false;
  if (::connect(socket.get(), address.get(), address.size) == 0) return false;
  if (errno != EINPROGRESS) return errno == ECONNREFUSED;
  if (wait_for_events(socket.get(), POLLOUT, Deadline(kMostProbing)) == 0) return false;
  int error = 0;
  socklen_t size = sizeof error;
  return ::getsockopt(socket.get(), SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error == ECONNREFUSED;
}

}  // namespace tailrace::impl
