// CoreAcceptor: meets the clients of a server in place `core`, and lets it sleep.
//
// One thread. Each client has a segment, an event counter that wakes the server, and a connection. The end of the
// connection or of the process shows that the client has gone. All input from a client is checked before it is used,
// and a bad client does not affect the others. The acceptor sleeps in one place, for all of them at once, and never
// waits for one of them. It knows neither the work done for clients nor the meaning of a configuration: see Host.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/log.hpp"
#include "base/os/epoll_set.hpp"
#include "base/os/process.hpp"
#include "base/os/unix_socket.hpp"
#include "base/sync/doorbell.hpp"
#include "base/sync/event_fd.hpp"
#include "model/wire/core_wire.hpp"
#include "place/acceptor.hpp"
#include "place/core/segment.hpp"

namespace tailrace::impl {

class CoreAcceptor final : public Acceptor {
 public:
  // The memory that a client needs.
  struct Needs {
    ChannelSizes sizes;
    uint64_t pool = 0;
    uint64_t ahead = UINT64_MAX;  // bytes of the pool that are taken from the system before they are used, at least
  };

  // The server behind the acceptor.
  class Host {
   public:
    virtual ~Host() = default;
    // Decides whether the client may come, and returns the memory that it needs. `configuration` is the text that it
    // sent.
    virtual Result<Needs> admit(int client, pid_t process, const std::string& configuration) = 0;
    // Begins to prepare the files of a new client, and returns at once: prepared() follows, unless this fails.
    // `segment` lives until dismissed(), or serve() fails; its file gets its final name here and is removed there.
    virtual Status prepare(int client, Segment& segment) = 0;
    // Serves the client, whose files are prepared, from here on. Fails if they could not be prepared. Returns false
    // if the client belongs to the next run by now: it has to wait.
    virtual Result<bool> serve(int client) = 0;
    // Returns true if a new client must wait until the files of another one are prepared.
    virtual bool is_busy() const = 0;
    // Notes that the client is gone; `died`: it did not say goodbye.
    virtual void lose(int client, bool died) = 0;
    virtual bool gone(int client) const = 0;
    // Returns true while the host still has the files of a client that was dismissed, or was not served. freed()
    // follows.
    virtual bool has_files_of(int client) const = 0;
    // Returns true while there is such a client.
    virtual bool gives_back() const = 0;
    // Returns the last iteration that earlier runs of the client published.
    virtual Result<LastIteration> last_iteration(int client) = 0;
    // Notes that the server has finished with the client, whose segment is about to be unmapped.
    virtual void dismissed(int client) = 0;
    // Notes that a client was refused.
    virtual void refused() {}
    // Returns true if a new client belongs to the run after the present one: it waits until that has ended, and meets
    // the next server. Fails if it may not come at all.
    virtual Result<bool> is_of_next_run(int client, pid_t process) = 0;
    // Returns the error of a client that comes back from an earlier server, and that this one does not serve.
    virtual Status unknown(int client) const = 0;
    // Returns the server's description, which its clients report.
    virtual std::string description() const = 0;
  };

  // Borrows all arguments. `fresh_segment` is the name of a segment's file before serve().
  CoreAcceptor(const PrivateDirectory& directory, UnixListener& listener, EpollSet& epoll, Doorbell& doorbell,
               Host& host, Log& log, std::string fresh_segment);
  ~CoreAcceptor() override;

  // Adopts a client of an earlier server whose segment was found, and which the host serves then. The client has to
  // come back. `process`: none if it has ended, or has said goodbye.
  Status adopt(int client, std::unique_ptr<Segment> segment, std::optional<ProcessHandle> process);
  // Notes that the files of a new client are prepared, or could not be.
  void prepared(int client) { prepared_.push_back(client); }
  // Notes that a number has become free.
  void freed() { number_is_free_ = number_is_free_ || !waiting_.empty(); }
  // Adds a descriptor that wakes the server while it is readable, as long as it is open.
  Status watch(int fd);

  // Acceptor
  void begin_round() override;
  bool has_news() const override { return number_is_free_ || !prepared_.empty(); }
  bool has_company() const override {
    return !strangers_.empty() || !waiting_.empty() || lets_in() || host_.gives_back();
  }
  bool lets_in() const override { return newcomers_ > 0; }
  bool next_run_waits() const override { return next_run_waits_; }
  void wait(std::optional<Nanoseconds> limit) override;
  void distrusted(int client, const Status& why) override;
  void dismissed(int client, bool died) override;

 private:
  // A connection that has greeted.
  struct Waiting {
    UnixSocket socket;
    Hello hello;
    std::string configuration;
  };
  struct Client {
    int number = 0;
    std::unique_ptr<Segment> segment;
    uint64_t ahead = 0;  // how much of it is taken before the client uses it
    EventFd bell;
    std::optional<UnixSocket> socket;      // none: the client has to come back
    std::optional<Waiting> newcomer;       // its files are being prepared
    std::optional<ProcessHandle> process;  // none: the process has ended
    std::unique_ptr<Log> log;              // messages about the client
    std::vector<int> watched;              // its descriptors in the epoll set
  };

  // A connection without a greeting.
  struct Stranger {
    UnixSocket socket;
    Deadline until;
  };

  void look_at(uint64_t tag);
  void listen();
  void pause_listening(Nanoseconds at_most);
  void meet();
  bool drop_oldest_stranger();
  bool is_silent(const Stranger& stranger) const;
  void greet(UnixSocket socket);
  void answer(UnixSocket socket, const Hello& hello, std::string configuration);
  void refuse(UnixSocket& socket, int client, const Status& status);
  Status enter(Waiting& one);
  Status meet(Waiting& one, ProcessHandle process);
  void let_in(int number);
  Status welcome(Client& client, UnixSocket& socket, const Result<LastIteration>& last);
  Result<std::unique_ptr<Client>> make_client(int number, std::unique_ptr<Segment> segment);
  Status give_channel(Client& client, UnixSocket& socket, const Result<LastIteration>& last);
  Status watch(Client& client, int fd, uint64_t tag, EpollSet::Trigger trigger);
  void unwatch(Client& client);
  void hear(Client& client);
  void lose(Client& client, bool died, const std::string& why);
  void hear_no_more(Client& client);

  const PrivateDirectory& directory_;
  UnixListener& listener_;
  EpollSet& epoll_;
  Doorbell& doorbell_;
  Host& host_;
  Log& log_;
  const std::string fresh_segment_;
  std::map<int, std::unique_ptr<Client>> clients_;
  // Connections without a greeting, the oldest first.
  std::deque<Stranger> strangers_;
  size_t newcomers_ = 0;       // clients with a `newcomer`
  std::vector<int> prepared_;  // of these
  // Clients that have greeted, and wait until an earlier client with their number is finished, or the files of
  // another client are prepared.
  std::vector<Waiting> waiting_;
  // No connection is accepted until then, or until one of the strangers has gone; none: the listener is watched.
  std::optional<Deadline> paused_;
  bool next_run_waits_ = false;
  bool number_is_free_ = false;  // some client's number has become free, perhaps one that a client waits for
};

}  // namespace tailrace::impl
