// HostProcess: a process that runs foreign code for the server. The server starts, kills and reaps it, and never
// waits for it.
//
// Three descriptors lead to it: a socket for messages, a pipe with its output, and one that becomes readable when it
// has ended. The process leads a process group of its own, so that processes it starts end with it. No signal reaches
// the server.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/os/file_descriptor.hpp"
#include "base/status.hpp"

namespace tailrace::impl {

class HostProcess {
 public:
  // The socket's descriptor in the new process. Its standard output and standard error are the pipe.
  static constexpr int kSocket = 3;

  // Starts the process, which ends at the latest with the thread that starts it.
  static Result<HostProcess> start(const std::string& executable);

  HostProcess(HostProcess&&) = default;
  HostProcess& operator=(HostProcess&&) = delete;
  // Kills the process, and waits until it is gone, for at most a second.
  ~HostProcess();

  // Return descriptors; all are non-blocking.
  int socket() const { return socket_.get(); }
  int output() const { return output_.get(); }
  int ended() const { return pidfd_.get(); }

  // Closes this side of the socket, so that the process sees the end of its requests.
  void close_requests();
  void kill();
  // Returns once how it ended: "killed by signal 11 (Segmentation fault)"; none while it runs.
  std::optional<std::string> reap();

 private:
  HostProcess(pid_t pid, FileDescriptor pidfd, FileDescriptor socket, FileDescriptor output);

  pid_t pid_;
  FileDescriptor pidfd_;  // empty: reaped, or moved from
  FileDescriptor socket_;
  FileDescriptor output_;
};

}  // namespace tailrace::impl
