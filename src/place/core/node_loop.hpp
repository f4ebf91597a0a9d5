// NodeLoop: what the server of a node does all its life: meets clients, has what they send taken (NodeRings), sleeps.
//
// One thread. Each client has a segment, an event counter that wakes the server, and a connection whose end, like
// that of its process, says that it has gone. What a client says or writes is checked before it is used, and a client
// that breaks the rules is shown the door; the others do not notice. Sleeps in one place, on all of them at once, and
// never waits for any one. Knows neither what the sinks do nor what a configuration means: see Host.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/deadline.hpp"
#include "base/doorbell.hpp"
#include "base/epoll_set.hpp"
#include "base/event_fd.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "base/unix_socket.hpp"
#include "model/core_wire.hpp"
#include "place/core/segment.hpp"
#include "place/node_rings.hpp"
#include "place/place.hpp"

namespace tailrace::impl {

class NodeLoop {
 public:
  // What a client needs.
  struct Guest {
    ChannelSizes sizes;
    uint64_t pool = 0;
  };

  // What the loop asks of who runs it.
  class Host : public NodeRings::Host {
   public:
    // Whether the client may come, and what it needs. `configuration` is what it sent.
    virtual Result<Guest> admit(int client, pid_t process, const std::string& configuration) = 0;
    // From here on the client is served. `segment` stays until dismiss(); its file gets its name here, and goes
    // there.
    virtual Result<RequestSink*> serve(int client, Segment& segment) = 0;
    // Of the server, for its clients' descriptions.
    virtual std::string description() const = 0;
    // In how long progress() must be called though nothing has happened; none: that does not matter.
    virtual std::optional<Nanoseconds> next_in() { return std::nullopt; }
    // Whether a new client is of a run after the one that is being served: it waits until that has ended, and meets
    // the server after this one. Fails if it may not come at all.
    virtual Result<bool> is_of_next_run(int /*client*/, pid_t /*process*/) { return false; }
    // How long the loop stays when its last client has gone: others may have yet to come.
    virtual Nanoseconds stays_for() { return Nanoseconds::zero(); }
  };

  struct Options {
    std::string fresh_segment;                   // the name of a segment's file before serve()
    std::optional<Nanoseconds> first_client_in;  // ends if nobody comes by then; none: waits
    std::vector<int> watched;                    // descriptors that wake the loop when something happens to them
  };

  // All but `options` are borrowed.
  NodeLoop(const PrivateDirectory& directory, UnixListener& listener, EpollSet& epoll, Doorbell& doorbell, Host& host,
           Log& log, Options options);
  ~NodeLoop();

  // A client of an earlier server, whose segment was found: served until it has settled, then kept for its return, or
  // dismissed if it has died. `process`: none if it has ended.
  Status adopt(int client, std::unique_ptr<Segment> segment, RequestSink* sink, uint64_t last_sequence,
               std::optional<ProcessHandle> process);

  // One more descriptor that wakes the loop while it is readable, as long as it is open.
  Status watch(int fd);
  // Returns when the last client has gone, or the last of a run and clients of the next one wait.
  void run();

 private:
  struct Client {
    int number = 0;
    std::unique_ptr<Segment> segment;
    EventFd bell;
    std::optional<UnixSocket> socket;      // none: it has to come back
    std::optional<ProcessHandle> process;  // none: it has ended
    std::unique_ptr<Log> log;              // what is said of it
    std::vector<int> watched;              // of its descriptors, those in the epoll set
  };

  void add_fixed();
  bool work();
  bool is_over();
  void look_at(uint64_t tag);
  void meet();
  bool drop_oldest_stranger();
  void drop_silent_strangers();
  void greet(UnixSocket socket);
  void answer(UnixSocket socket, const Hello& hello, std::string configuration);
  void answer_waiting();
  void refuse(UnixSocket& socket, const Hello& hello, const Status& status);
  Status welcome(UnixSocket& socket, const Hello& hello, std::string configuration);
  std::unique_ptr<Client> make_client(int number, std::unique_ptr<Segment> segment);
  Result<Client*> enter(const Hello& hello, pid_t process, const std::string& configuration);
  Status give_channel(Client& client, UnixSocket& socket);
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
  const Options options_;
  std::map<int, std::unique_ptr<Client>> clients_;
  NodeRings rings_;  // of the same clients
  // Connected, and have not said hello yet; the oldest first.
  struct Stranger {
    UnixSocket socket;
    Deadline until;
  };
  std::deque<Stranger> strangers_;
  // Have said hello, and wait until all is written of one who had their number and has gone.
  struct Waiting {
    UnixSocket socket;
    Hello hello;
    std::string configuration;
  };
  std::vector<Waiting> waiting_;
  bool next_run_waits_ = false;
  bool number_is_free_ = false;  // of somebody; perhaps of one who waits
  bool had_client_ = false;
  std::optional<Deadline> alone_;  // how long it stays, since the last client has gone
};

}  // namespace tailrace::impl
