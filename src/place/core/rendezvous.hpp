// Rendezvous: connects a client to the node's server, which the first client starts.
//
// A client connects. If no process listens, it takes the job's election lock, tries again, starts the server's
// program, and waits for an announcement over a pair of sockets: that the server is ready, or why it is not. Other
// clients wait for the lock meanwhile. Two servers never run at once: the server's own lock guarantees this, and the
// election only saves work. The protocol between connected clients and servers is not part of this file.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/os/file_mutex.hpp"
#include "base/os/process.hpp"
#include "base/os/unix_socket.hpp"
#include "place/core/runtime_directory.hpp"

namespace tailrace::impl {

struct StartOptions {
  std::string executable;              // an absolute path
  std::vector<std::string> arguments;  // the program announces itself on descriptor kInheritedDescriptor
  std::string log;                     // file for its stdout and stderr; empty: none
  Nanoseconds limit = std::chrono::seconds(30);
  bool own_log = false;  // tailrace chose the name of `log`: base/os/own_file.hpp
};

// Returns a connection to server `server`, a process of this user. Called by clients. Fails with TAILRACE_TIMEOUT if
// the start took too long (the server is then killed), and with the server's announcement if it could not start. A
// server that is about to end may still accept the connection and close it: then call this again.
Result<UnixSocket> meet(RuntimeDirectory& job, int server, const StartOptions& options);

// Connects to the server if it runs, and does not start it.
Result<UnixSocket> meet_running(const RuntimeDirectory& job, int server, const Deadline& deadline);

// The server calls, in this order: detach() (base/os/process.hpp), ServerLock::take, UnixListener::listen,
// announce_ready. It holds the lock until after the listener's end.

// The lock "I am server k of this job", which one living process holds. Its file `server_<k>.lock` is removed at its
// end.
class ServerLock {
 public:
  // Waits until `deadline` for a server that is ending; then fails with TAILRACE_CLIENT_IN_USE. Must end on the same
  // thread.
  static Result<ServerLock> take(const RuntimeDirectory& job, int server,
                                 const Deadline& deadline = std::chrono::seconds(2));
  // Returns true if any process holds the lock. Changes nothing.
  static bool is_taken(const RuntimeDirectory& job, int server);

  ServerLock(ServerLock&&) = default;
  ServerLock& operator=(ServerLock&&) = delete;
  ~ServerLock();

 private:
  ServerLock(FileMutex mutex, FileMutex::Held held) : mutex_(std::move(mutex)), held_(std::move(held)) {}

  FileMutex mutex_;
  FileMutex::Held held_;  // after mutex_: ends before it
};

// Report to the process that started this one, if there is one that still listens, and close `descriptor`.
void announce_ready(int descriptor);
void announce_failure(int descriptor, const Status& status);

}  // namespace tailrace::impl
