// Rendezvous: how a client gets a connection to the node's server, and the first one starts it.
//
// A client connects; if nobody listens, it takes the job's election lock, looks again, starts the server's program,
// and waits until that says over a pair of sockets that it is ready, or why it is not. Others wait for the lock
// meanwhile. A second server is never alive: what decides is the server's own lock, not the election, which only
// saves work. What client and server say to each other once they are connected is not known here.
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
  std::string executable;              // absolute
  std::vector<std::string> arguments;  // the program announces itself on the descriptor kInheritedDescriptor
  std::string log;                     // the file of its stdout and stderr; empty: none
  Nanoseconds limit = std::chrono::seconds(30);
  bool own_log = false;  // tailrace made up the name of `log`: base/os/own_file.hpp
};

// The client: a connection to server `server`, a process of this user. Fails with TAILRACE_TIMEOUT if starting it
// took too long, in which case it is killed, and with what the server announced if it could not start. A server that
// is about to end may still take the connection and close it: then call this again.
Result<UnixSocket> meet(RuntimeDirectory& job, int server, const StartOptions& options);

// Meets the server if it runs, and does not start it.
Result<UnixSocket> meet_running(const RuntimeDirectory& job, int server, const Deadline& deadline);

// The server, in this order: detach() (base/os/process.hpp), ServerLock::take, UnixListener::listen, announce_ready.
// The lock is held until after the listener's end.

// "I am server k of this job": held by one living process. In the file `server_<k>.lock`, which is gone after it.
class ServerLock {
 public:
  // Waits that long for a server that is ending; then TAILRACE_CLIENT_IN_USE. Its end is on the same thread.
  static Result<ServerLock> take(const RuntimeDirectory& job, int server,
                                 const Deadline& deadline = std::chrono::seconds(2));
  // Returns true if somebody holds the lock. Leaves everything as it is.
  static bool is_taken(const RuntimeDirectory& job, int server);

  ServerLock(ServerLock&&) = default;
  ServerLock& operator=(ServerLock&&) = delete;
  ~ServerLock();

 private:
  ServerLock(FileMutex mutex, FileMutex::Held held) : mutex_(std::move(mutex)), held_(std::move(held)) {}

  FileMutex mutex_;
  FileMutex::Held held_;  // after mutex_: ends before it
};

// Tells who started this process, if anybody did and still listens, and closes `descriptor`.
void announce_ready(int descriptor);
void announce_failure(int descriptor, const Status& status);

}  // namespace tailrace::impl
