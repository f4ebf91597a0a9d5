// HostProcess: the process that runs foreign code for the server: started, killed and reaped, and never waited for.
//
// Three descriptors lead to it: a socket for messages, a pipe with all that it prints, and one that becomes readable
// when it has ended. The process leads a process group of its own, so that what it starts ends with it. No signal
// reaches the server.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/os/file_descriptor.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

class HostProcess {
 public:
  // The descriptor of the socket in the new process, whose standard output and standard error are the pipe.
  static constexpr int kSocket = 3;

  // The process ends with the thread that starts it, at the latest.
  static Result<HostProcess> start(const std::string& executable);

  HostProcess(HostProcess&&) = default;
  HostProcess& operator=(HostProcess&&) = delete;
  // Kills it, and waits until it is gone, for at most a second.
  ~HostProcess();

  // All non-blocking.
  int socket() const { return socket_.get(); }
  int output() const { return output_.get(); }
  int ended() const { return pidfd_.get(); }

  // Lets it see the end of its requests.
  void close_requests();
  void kill();
  // How it has ended, once: "killed by signal 11 (Segmentation fault)"; nothing while it has not.
  std::optional<std::string> reap();

 private:
  HostProcess(pid_t pid, FileDescriptor pidfd, FileDescriptor socket, FileDescriptor output);

  pid_t pid_;
  FileDescriptor pidfd_;  // empty: reaped, or moved from
  FileDescriptor socket_;
  FileDescriptor output_;
};

}  // namespace tailrace::impl
