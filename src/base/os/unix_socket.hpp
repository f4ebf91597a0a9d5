// UnixSocket: sends messages and open descriptors between two processes of a node. UnixListener: accepts connections.
//
// It uses SOCK_SEQPACKET: a message arrives whole or not at all, and each side sees the end of the other. The other
// side's data are not trusted: a message that is too long, or brings more descriptors than expected, is refused, and
// its descriptors are closed. The contents of messages have no meaning here. Waits have a deadline; no call raises a
// signal. One thread uses an object at a time.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/deadline.hpp"
#include "base/os/file_descriptor.hpp"
#include "base/os/private_directory.hpp"
#include "base/os/process.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

// Peer: the process at the other end, as it was when it called connect() or listen().
struct Peer {
  pid_t pid = 0;
  uid_t uid = 0;
  gid_t gid = 0;
};

struct Message {
  size_t bytes = 0;
  std::vector<FileDescriptor> descriptors;
};

class UnixSocket {
 public:
  static constexpr size_t kMaxDescriptors = 16;  // in one message

  // Connects to the socket `name` in `directory`. Fails with ENOENT or ECONNREFUSED if no process listens, and with
  // TAILRACE_TIMEOUT if no process accepts connections.
  static Result<UnixSocket> connect(const PrivateDirectory& directory, const std::string& name,
                                    const Deadline& deadline);
  // Returns two sockets that are connected with each other.
  static Result<std::pair<UnixSocket, UnixSocket>> pair();
  // Takes ownership of an inherited descriptor; refuses anything but a connected socket of this kind. `name` is for
  // messages.
  static Result<UnixSocket> adopt(FileDescriptor descriptor, std::string name);

  // Sends a message. `bytes` is not empty. The caller keeps the descriptors. Fails with EPIPE or ECONNRESET if the
  // peer has closed; fails with TAILRACE_TIMEOUT, and sends nothing, if the peer does not read.
  Status send(std::span<const std::byte> bytes, std::span<const int> descriptors, const Deadline& deadline);
  // Receives the next message into the beginning of `into`. Fails with ECONNRESET if the peer has closed, with
  // EBADMSG if the message is longer than `into` or brings more than `descriptors` descriptors, with TAILRACE_TIMEOUT
  // if none arrives.
  Result<Message> receive(std::span<std::byte> into, size_t descriptors, const Deadline& deadline);

  Peer peer() const;
  // Fails with EPERM if the peer belongs to another user than this process.
  Status check_same_user() const;
  // Returns the peer's process, to watch it. For an inherited connection this is the process that made the
  // connection.
  Result<ProcessHandle> peer_process() const;
  // Returns true if the peer has closed the connection or ended. (A process that it forked may hold the connection
  // open: see peer_process().)
  bool peer_gone() const;

  int fd() const { return socket_.get(); }
  // The path, for messages.
  const std::string& name() const { return name_; }

 private:
  friend class UnixListener;
  UnixSocket(FileDescriptor socket, std::string name) : socket_(std::move(socket)), name_(std::move(name)) {}

  Status refuse(const std::string& what) const;
  std::string who() const;

  FileDescriptor socket_;
  std::string name_;
};

class UnixListener {
 public:
  // Creates the socket `name`, mode 0600, and removes an existing one as the leftover of a dead process: the caller
  // holds a lock that guarantees this. Removes the file at its end; `directory` may end before.
  static Result<UnixListener> listen(const PrivateDirectory& directory, const std::string& name);
  UnixListener(UnixListener&&) = default;
  UnixListener& operator=(UnixListener&&) = delete;
  ~UnixListener();

  // Accepts the next connection; none, without waiting, if there is none. The caller checks the peer.
  Result<std::optional<UnixSocket>> accept();
  // Becomes readable when a process connects. Owned by this object.
  int fd() const { return socket_.get(); }

 private:
  UnixListener(FileDescriptor socket, FileDescriptor directory, std::string name, std::string path)
      : socket_(std::move(socket)),
        directory_(std::move(directory)),
        name_(std::move(name)),
        path_(std::move(path)) {}

  FileDescriptor socket_;
  FileDescriptor directory_;
  std::string name_;
  std::string path_;
};

}  // namespace tailrace::impl
