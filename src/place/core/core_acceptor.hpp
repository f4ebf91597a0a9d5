// CoreAcceptor: how the server of place `core` meets its clients, and how it sleeps.
//
// One thread. Each client has a segment, an event counter that wakes the server, and a connection whose end, like
// that of its process, says that it has gone. What a client says is checked before it is used; the others do not
// notice. Sleeps in one place, on all of them at once, and never waits for any one. Knows neither what is done for
// clients nor what a configuration means: see Host.
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
  };

  // The server behind the acceptor.
  class Host {
   public:
    virtual ~Host() = default;
    // Decides if the client may come, and returns the memory that it needs. `configuration` is the text that it sent.
    virtual Result<Needs> admit(int client, pid_t process, const std::string& configuration) = 0;
    // From here on the client is served. `segment` stays until dismissed(); its file gets its name here, and goes
    // there.
    virtual Status serve(int client, Segment& segment) = 0;
    // The client is gone; `died`: without saying goodbye.
    virtual void lose(int client, bool died) = 0;
    virtual bool gone(int client) const = 0;
    // The server is done with the client, whose segment is about to be unmapped.
    virtual void dismissed(int client) = 0;
    // A client was refused.
    virtual void refused() {}
    // Returns true if a new client is of a run after the one that is being served: it waits until that has ended, and
    // meets the server after this one. Fails if it may not come at all.
    virtual Result<bool> is_of_next_run(int client, pid_t process) = 0;
    // Returns the description of the server that its clients report.
    virtual std::string description() const = 0;
  };

  // All are borrowed. `fresh_segment`: the name of a segment's file before serve().
  CoreAcceptor(const PrivateDirectory& directory, UnixListener& listener, EpollSet& epoll, Doorbell& doorbell,
               Host& host, Log& log, std::string fresh_segment);
  ~CoreAcceptor() override;

  // A client of an earlier server, whose segment was found, and whom the host serves already. It has to come back.
  // `process`: none if it has ended.
  Status adopt(int client, std::unique_ptr<Segment> segment, std::optional<ProcessHandle> process);
  // One more descriptor that wakes the server while it is readable, as long as it is open.
  Status watch(int fd);

  // Acceptor
  void begin_round() override;
  bool has_news() const override { return number_is_free_; }
  bool has_company() const override { return !strangers_.empty() || !waiting_.empty(); }
  bool next_run_waits() const override { return next_run_waits_; }
  void wait(std::optional<Nanoseconds> limit) override;
  void distrusted(int client, const Status& why) override;
  void dismissed(int client, bool died) override;

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
  const std::string fresh_segment_;
  std::map<int, std::unique_ptr<Client>> clients_;
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
};

}  // namespace tailrace::impl
