// ClientRings: what the server of a node does with the rings of its clients: takes in turn what they sent, moves it
// on, says that it is about to sleep, and lets go of who has left.
//
// A verb is checked, written down by the host, and only then taken from its ring: whoever goes on after a death of
// the server finds it in the ring, in the ledger or in both. Knows neither how clients are met nor what the sinks do,
// so that the simulator runs it as NodeLoop does. One thread; never waits.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "base/sync/sleep_flag.hpp"
#include "place/place.hpp"

namespace tailrace::impl {

class ClientRings {
 public:
  // The server behind the rings.
  class Host {
   public:
    virtual ~Host() = default;
    // Returns ok if a verb of that client makes sense; called before accepted().
    virtual Status check(int client, const Descriptor& descriptor) = 0;
    // The verb is about to be taken from the ring and given to the sink.
    virtual void accepted(int client, const Descriptor& descriptor) = 0;
    // The client is gone: from here on the server waits for what it has sent to end.
    virtual void lost(int) {}
    // Returns true if nothing that the client sent is under way.
    virtual bool settled(int client) const = 0;
    // The client has gone and is settled: nothing more will come. Once.
    virtual void leave(int client) = 0;
    // After leave(): whether nothing that it wrote waits for other clients any more.
    virtual bool released(int client) = 0;
    // After it is released.
    virtual void dismiss(int client) = 0;
    // Moves everything on; see RequestSink.
    virtual void progress() = 0;
    virtual bool ready() = 0;
  };

  // The result of a round.
  struct Round {
    bool more = false;  // there may be more to do at once
    std::vector<std::pair<int, Status>>
        distrusted;                               // clients that broke the rules, and how; nothing more is believed
    std::vector<std::pair<int, bool>> dismissed;  // clients that are done with, and whether they had died
  };

  explicit ClientRings(Host& host) : host_(host) {}

  // A client comes. All are borrowed until it is dismissed. `accepted`: verbs up to that sequence were accepted by an
  // earlier server, which may have died before it took the last of them.
  void add(int client, Channel& channel, SleepFlag<>& server_asleep, RequestSink& sink, uint64_t accepted);
  // The client is gone, and is dismissed once what it sent has been done; `died`: without saying goodbye.
  void lose(int client, bool died);
  bool gone(int client) const { return rings_.at(client).gone; }

  // Takes what has been sent, and moves everything on.
  Round work();

  // Before sleeping: from here on, each client that sends rings. Then work() must look once more.
  void announce();
  // After it.
  void retract();

 private:
  struct Ring {
    Channel* channel = nullptr;
    SleepFlag<>* server_asleep = nullptr;
    RequestSink* sink = nullptr;  // none: nothing more is taken
    uint64_t accepted = 0;        // the latest verb
    int may_take = 0;             // verbs, in this round
    bool gone = false;
    bool died = false;
    bool left = false;  // the host knows
  };

  void take_all(Round& round);
  bool take(int client, Ring& ring, Round& round);
  void distrust(int client, Ring& ring, Status why, Round& round);
  void dismiss_settled(Round& round);
  bool can_take() const;

  Host& host_;
  std::map<int, Ring> rings_;
};

}  // namespace tailrace::impl
