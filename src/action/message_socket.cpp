#include "action/message_socket.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "base/names/counted.hpp"

namespace tailrace::impl {
namespace {

// Takes the descriptors that came with `header`: keeps the first, and closes any others.
bool take_descriptors(msghdr& header, FileDescriptor& fd) {
  bool one = true;
  for (cmsghdr* part = CMSG_FIRSTHDR(&header); part != nullptr; part = CMSG_NXTHDR(&header, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (size_t i = 0; i < count; ++i) {
      int received = -1;
      std::memcpy(&received, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      one = one && !fd.is_open();
      if (fd.is_open()) {
        ::close(received);
      } else {
        fd = FileDescriptor(received);
      }
    }
  }
  return one;
}

}  // namespace

Delivery send_message(int socket, std::span<const std::byte> message, int fd) {
  iovec part{const_cast<std::byte*>(message.data()), message.size()};  // sendmsg only reads it
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  if (fd >= 0) {
    header.msg_control = control;
    header.msg_controllen = sizeof control;
    cmsghdr* rights = CMSG_FIRSTHDR(&header);
    rights->cmsg_level = SOL_SOCKET;
    rights->cmsg_type = SCM_RIGHTS;
    rights->cmsg_len = CMSG_LEN(sizeof(int));
    std::memcpy(CMSG_DATA(rights), &fd, sizeof(int));
  }
  while (true) {
    const ssize_t sent = ::sendmsg(socket, &header, MSG_NOSIGNAL);
    if (sent == static_cast<ssize_t>(message.size())) return Delivery::done;
    if (sent < 0 && errno == EINTR) continue;
    // ETOOMANYREFS: too many descriptors are in flight, until the other side takes some.
    if (sent < 0 && (errno == EAGAIN || errno == ETOOMANYREFS || errno == ENOBUFS)) return Delivery::again;
    return Delivery::gone;
  }
}

Delivery receive_message(int socket, std::span<std::byte> message, FileDescriptor& fd) {
  iovec part{message.data(), message.size()};
  alignas(cmsghdr) char control[CMSG_SPACE(4 * sizeof(int))] = {};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control;
  header.msg_controllen = sizeof control;
  while (true) {
    const ssize_t received = ::recvmsg(socket, &header, MSG_CMSG_CLOEXEC);
    if (received < 0 && errno == EINTR) continue;
    if (received < 0 && errno == EAGAIN) return Delivery::again;
    if (received < 0) return Delivery::gone;
    const bool one = take_descriptors(header, fd);
    const bool whole = received == static_cast<ssize_t>(message.size()) && (header.msg_flags & MSG_TRUNC) == 0;
    return one && whole && (header.msg_flags & MSG_CTRUNC) == 0 ? Delivery::done : Delivery::gone;
  }
}

Result<FileDescriptor> to_memory_file(std::span<const std::byte> bytes) {
  FileDescriptor fd(::memfd_create("tailrace-action", MFD_CLOEXEC));
  if (!fd.is_open()) return Status::of_errno("create", "memory file for an action", errno);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::pwrite(fd.get(), bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Status::of_errno("write", "memory file for an action", errno);
    done += static_cast<size_t>(count);
  }
  return fd;
}

Result<std::vector<std::byte>> from_memory_file(int fd, uint64_t size) {
  // Accepts memory files only: reading anything else could block.
  if (::fcntl(fd, F_GET_SEALS) < 0) return Status::of_errno("read", "memory file of an action", errno);
  std::vector<std::byte> bytes(size);
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::pread(fd, bytes.data() + done, bytes.size() - done, static_cast<off_t>(done));
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Status::of_errno("read", "memory file of an action", errno);
    if (count == 0) {
      return Status(TAILRACE_INTERNAL,
                    fmt::format("memory file of an action: found {}, expected {}", counted(done, "byte"), size));
    }
    done += static_cast<size_t>(count);
  }
  return bytes;
}

}  // namespace tailrace::impl
