// UnixSocket: messages with open descriptors between two processes of a node; UnixListener: where they meet.
//
// SOCK_SEQPACKET: a message arrives whole or not at all, and the end of the other side is seen. What the other side
// sends is not trusted: messages that are too long or bring more descriptors than asked for are refused, and what
// they brought is closed. What messages mean is not known here. Waits have a deadline; no signal is ever raised. Each
// is used by one thread at a time.
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

// The process at the other end, as it was when it called connect() or listen().
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

  // Connects to the socket `name` in `directory`. Fails with ENOENT or ECONNREFUSED if nobody listens, and with
  // TAILRACE_TIMEOUT if nobody accepts connections.
  static Result<UnixSocket> connect(const PrivateDirectory& directory, const std::string& name,
                                    const Deadline& deadline);
  // Two that are connected with each other.
  static Result<std::pair<UnixSocket, UnixSocket>> pair();
  // Takes over what was inherited; refuses what is not a connected socket of this kind. `name` is for messages.
  static Result<UnixSocket> adopt(FileDescriptor descriptor, std::string name);

  // `bytes` is not empty. The descriptors stay the caller's. Fails with EPIPE or ECONNRESET if the peer has closed,
  // with TAILRACE_TIMEOUT, with nothing sent, if it does not read.
  Status send(std::span<const std::byte> bytes, std::span<const int> descriptors, const Deadline& deadline);
  // The next message, into the beginning of `into`. Fails with ECONNRESET if the peer has closed, with EBADMSG if the
  // message is longer than `into` or brings more than `descriptors` descriptors, with TAILRACE_TIMEOUT if none comes.
  Result<Message> receive(std::span<std::byte> into, size_t descriptors, const Deadline& deadline);

  Peer peer() const;
  // Fails with EPERM if the peer is of another user than this process.
  Status check_same_user() const;
  // The peer, to watch. Of a connection that was inherited, it is the process that made it.
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
  // Makes the socket `name`, mode 0600; one that is there is taken for a dead process's and removed, so the caller
  // holds a lock that makes it so. The file is removed at the end, `directory` may end before.
  static Result<UnixListener> listen(const PrivateDirectory& directory, const std::string& name);
  UnixListener(UnixListener&&) = default;
  UnixListener& operator=(UnixListener&&) = delete;
  ~UnixListener();

  // The next connection; none, without waiting, if nobody asks for one. The caller checks who it is.
  Result<std::optional<UnixSocket>> accept();
  // Readable when somebody asks for a connection. Owned by this.
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
