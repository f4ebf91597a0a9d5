#include "base/os/unix_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>

namespace tailrace::impl {
namespace {

#ifdef SO_PEERPIDFD
constexpr int kPeerPidfd = SO_PEERPIDFD;
#else
constexpr int kPeerPidfd = 77;  // SO_PEERPIDFD of Linux 6.5; headers may be older than the kernel
#endif

// Room for the descriptors of one message, with the alignment that the system requires.
union ControlBuffer {
  cmsghdr header;
  char bytes[CMSG_SPACE(UnixSocket::kMaxDescriptors * sizeof(int))];
};

Result<FileDescriptor> new_socket(const std::string& name) {
  FileDescriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket.is_open()) return Status::of_errno("make the socket", name, errno);
  return socket;
}

// Uses the directory's descriptor, so that no path is too long.
sockaddr_un address_of(const PrivateDirectory& directory, const std::string& name) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string path = directory.short_path_of(name);
  TAILRACE_REQUIRE(path.size() < sizeof address.sun_path);
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

Status no_answer(const char* operation, const std::string& name, const Deadline& deadline) {
  Fault fault;
  fault.code = TAILRACE_TIMEOUT;
  fault.operation = operation;
  fault.file = name;
  fault.message =
      fmt::format("{} {}: nothing within {} ms", operation, name, deadline.limit() / std::chrono::milliseconds(1));
  return Status(std::move(fault));
}

void limit_connect(int socket, Nanoseconds limit) {
  // Zero would mean no limit.
  const timespec time = to_timespec(std::max<Nanoseconds>(limit, std::chrono::milliseconds(1)));
  const timeval left{time.tv_sec, time.tv_nsec / 1000};
  setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &left, sizeof left);
}

std::vector<FileDescriptor> take_descriptors(const msghdr& message) {
  std::vector<FileDescriptor> taken;
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(const_cast<msghdr*>(&message), part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof fd, sizeof fd);
      taken.emplace_back(fd);
    }
  }
  return taken;
}

}  // namespace

Result<UnixSocket> UnixSocket::connect(const PrivateDirectory& directory, const std::string& name,
                                       const Deadline& deadline) {
  const std::string path = directory.path_of(name);
  const sockaddr_un address = address_of(directory, name);
  Result<FileDescriptor> socket = new_socket(path);
  if (!socket.ok()) return socket.status();
  const int fd = socket.value().get();
  int result = 0;
  do {
    limit_connect(fd, deadline.left());
    result = ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address);
  } while (result != 0 && errno == EINTR);
  if (result == 0) return UnixSocket(std::move(socket).value(), path);
  if (errno == EAGAIN) return no_answer("connect to", path, deadline);
  return Status::of_errno("connect to", path, errno);
}

Result<std::pair<UnixSocket, UnixSocket>> UnixSocket::pair() {
  int ends[2];
  const std::string name = "a pair of sockets";
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return Status::of_errno("make", name, errno);
  return std::pair(UnixSocket(FileDescriptor(ends[0]), name), UnixSocket(FileDescriptor(ends[1]), name));
}

Result<UnixSocket> UnixSocket::adopt(FileDescriptor descriptor, std::string name) {
  int domain = 0;
  int type = 0;
  socklen_t size = sizeof domain;
  if (getsockopt(descriptor.get(), SOL_SOCKET, SO_DOMAIN, &domain, &size) != 0)
    return Status::of_errno("use as a socket", name, errno);
  size = sizeof type;
  if (getsockopt(descriptor.get(), SOL_SOCKET, SO_TYPE, &type, &size) != 0)
    return Status::of_errno("use as a socket", name, errno);
  if (domain != AF_UNIX || type != SOCK_SEQPACKET) return Status::of_errno("use as a socket", name, EPROTOTYPE);
  sockaddr_un other{};
  size = sizeof other;
  if (getpeername(descriptor.get(), reinterpret_cast<sockaddr*>(&other), &size) != 0)
    return Status::of_errno("use as a socket", name, errno);
  fcntl(descriptor.get(), F_SETFD, FD_CLOEXEC);
  return UnixSocket(std::move(descriptor), std::move(name));
}

Status UnixSocket::send(std::span<const std::byte> bytes, std::span<const int> descriptors,
                        const Deadline& deadline) {
  TAILRACE_REQUIRE(!bytes.empty());  // an empty message looks like the end of the connection
  TAILRACE_REQUIRE(descriptors.size() <= kMaxDescriptors);
  iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  ControlBuffer control{};
  msghdr message{};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    message.msg_control = control.bytes;
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    control.header.cmsg_level = SOL_SOCKET;
    control.header.cmsg_type = SCM_RIGHTS;
    control.header.cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(&control.header), descriptors.data(), descriptors.size_bytes());
  }
  while (true) {
    const ssize_t sent = sendmsg(fd(), &message, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent >= 0) {
      TAILRACE_ASSERT(static_cast<size_t>(sent) == bytes.size());
      return {};
    }
    if (errno == EINTR) continue;
    if (errno != EAGAIN) return Status::of_errno("send to", who(), errno);
    if (wait_for_events(fd(), POLLOUT, deadline) == 0) return no_answer("send to", who(), deadline);
  }
}

Result<Message> UnixSocket::receive(std::span<std::byte> into, size_t descriptors, const Deadline& deadline) {
  TAILRACE_REQUIRE(descriptors <= kMaxDescriptors);
  iovec part{into.data(), into.size()};
  ControlBuffer control{};
  msghdr header{};
  ssize_t got = -1;
  while (got < 0) {
    header = {};
    header.msg_iov = &part;
    header.msg_iovlen = 1;
    header.msg_control = control.bytes;
    header.msg_controllen = sizeof control.bytes;
    got = recvmsg(fd(), &header, MSG_CMSG_CLOEXEC | MSG_DONTWAIT);
    if (got >= 0 || errno == EINTR) continue;
    if (errno != EAGAIN) return Status::of_errno("receive from", who(), errno);
    if (wait_for_events(fd(), POLLIN, deadline) == 0) return no_answer("receive from", who(), deadline);
  }
  Message message{static_cast<size_t>(got), take_descriptors(header)};
  if (got == 0) return Status::of_errno("receive from", who(), ECONNRESET);
  if ((header.msg_flags & MSG_TRUNC) != 0) return refuse(fmt::format("more than {} bytes", into.size()));
  // The system also drops descriptors if this process may open no more.
  if ((header.msg_flags & MSG_CTRUNC) != 0)
    return refuse("descriptors that did not arrive: too many, or this process can open no more");
  if (message.descriptors.size() > descriptors)
    return refuse(fmt::format("{} open files, expected at most {}", message.descriptors.size(), descriptors));
  return message;
}

Peer UnixSocket::peer() const {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  TAILRACE_ASSERT(getsockopt(fd(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0);
  return {credentials.pid, credentials.uid, credentials.gid};
}

Status UnixSocket::check_same_user() const {
  const Peer found = peer();
  if (found.uid == geteuid()) return {};
  Fault fault;
  fault.code = TAILRACE_IO_ERROR;
  fault.operation = "connect to";
  fault.file = name_;
  fault.system_errno = EPERM;
  fault.message = fmt::format("'{}': process {} at the other end is of user {}; expected user {}", name_, found.pid,
                              found.uid, geteuid());
  return Status(std::move(fault));
}

Result<ProcessHandle> UnixSocket::peer_process() const {
  const pid_t pid = peer().pid;
  int pidfd = -1;
  socklen_t size = sizeof pidfd;
  if (getsockopt(fd(), SOL_SOCKET, kPeerPidfd, &pidfd, &size) == 0) return ProcessHandle(pid, FileDescriptor(pidfd));
  // An older kernel: if the peer has ended, another process may have its number; but then the connection is closed
  // too.
  Result<ProcessHandle> process = ProcessHandle::open(pid);
  if (process.ok() && peer_gone()) return Status::of_errno("watch", fmt::format("process {}", pid), ESRCH);
  return process;
}

bool UnixSocket::peer_gone() const {
  const short found = wait_for_events(fd(), POLLRDHUP, Nanoseconds::zero());
  return (found & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

Status UnixSocket::refuse(const std::string& what) const {
  Fault fault;
  fault.code = TAILRACE_IO_ERROR;
  fault.operation = "receive from";
  fault.file = name_;
  fault.system_errno = EBADMSG;
  fault.message = fmt::format("{} sent {}", who(), what);
  return Status(std::move(fault));
}

std::string UnixSocket::who() const { return fmt::format("{} (process {})", name_, peer().pid); }

Result<UnixListener> UnixListener::listen(const PrivateDirectory& directory, const std::string& name) {
  const std::string path = directory.path_of(name);
  const sockaddr_un address = address_of(directory, name);
  Result<FileDescriptor> socket = new_socket(path);
  if (!socket.ok()) return socket.status();
  const int fd = socket.value().get();
  // The socket's file gets the mode of the socket.
  if (fchmod(fd, 0600) != 0) return Status::of_errno("make the socket", path, errno);
  if (const Status status = directory.remove_file(name); !status.ok()) return status;
  FileDescriptor at(fcntl(directory.fd(), F_DUPFD_CLOEXEC, 0));
  if (!at.is_open()) return Status::of_errno("duplicate", directory.path(), errno);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0)
    return Status::of_errno("make the socket", path, errno);
  UnixListener listener(std::move(socket).value(), std::move(at), name, path);
  if (fcntl(fd, F_SETFL, O_NONBLOCK) != 0 || ::listen(fd, SOMAXCONN) != 0)
    return Status::of_errno("listen on", path, errno);
  return listener;
}

UnixListener::~UnixListener() {
  if (socket_.is_open()) unlinkat(directory_.get(), name_.c_str(), 0);
}

Result<std::optional<UnixSocket>> UnixListener::accept() {
  int fd = -1;
  do {
    fd = accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC);
  } while (fd < 0 && errno == EINTR);
  if (fd >= 0) return std::optional<UnixSocket>(UnixSocket(FileDescriptor(fd), path_));
  if (errno == EAGAIN || errno == ECONNABORTED) return std::optional<UnixSocket>();
  return Status::of_errno("accept on", path_, errno);
}

}  // namespace tailrace::impl
