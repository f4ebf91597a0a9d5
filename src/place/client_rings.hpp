// ClientRings: serves the rings of a server's clients: takes verbs from each in turn, passes them on, announces the
// server's sleep, and dismisses clients that have left.
//
// The host checks each verb and accepts it before it is taken from its ring. So the successor of a dead server
// finds it in the ring, in the ledger or in both. This class knows neither how clients are met nor what the host
// does; the simulator runs it just as servers do. One thread; never waits.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "base/sync/sleep_flag.hpp"
#include "channel/channel.hpp"

namespace tailrace::impl {

class ClientRings {
 public:
  // How far a client has come on its way out. A client whose stage ends is dismissed, and no longer here:
  //
  //   here ──────▶ gone ───────────▶ left ───────────────▶ dismissed
  //       lose()       settled,            released: nothing
  //                    ring is empty       waits for others
  enum class Stage : uint8_t {
    here,  // it may send verbs
    gone,  // it has said goodbye, has died, or broke the rules; what it has sent must still end
    left   // all that has ended; iterations that it takes part in may wait for other clients
  };

  // The server behind the rings.
  class Host {
   public:
    virtual ~Host() = default;
    // Returns ok if a verb of that client is valid. Called before accept().
    virtual Status check(int client, const Descriptor& verb) const = 0;
    // Accepts the verb, which is about to be taken from the ring.
    virtual void accept(int client, const Descriptor& verb) = 0;
    // Notes that the client is gone: from here on the server waits for the end of its requests.
    virtual void lost(int) {}
    // Returns true if no request of the client is unfinished.
    virtual bool settled(int client) const = 0;
    // Notes that the client has left: nothing more will come. Called once.
    virtual void leave(int client) = 0;
    // Returns true if nothing that the client wrote waits for other clients any more. Called after leave().
    virtual bool released(int client) const = 0;
    // Dismisses the client. Called after it is released.
    virtual void dismiss(int client) = 0;
    // Advances all requests as far as possible without waiting.
    virtual void progress() = 0;
    // Returns true if accept() may be called now.
    virtual bool ready() const = 0;
  };

  // The result of a round.
  struct Round {
    bool more = false;                               // there may be more to do at once
    std::vector<std::pair<int, Status>> distrusted;  // clients that broke the rules, and how
    std::vector<std::pair<int, bool>> dismissed;     // clients that are finished, and true for those that died
  };

  explicit ClientRings(Host& host) : host_(host) {}

  // Adds a client, and returns its stage, which is there until it is dismissed. Borrows all arguments as long. An
  // earlier server accepted verbs up to the sequence `accepted`; it may have died before it took the last of them
  // from the ring.
  const Stage& add(int client, Channel& channel, SleepFlag<>& server_asleep, uint64_t accepted);
  // Notes that the client is gone. It is dismissed when its requests have ended; `died`: it did not say goodbye.
  void lose(int client, bool died);

  // Takes the verbs that have been sent, and advances all requests.
  Round work();

  // Called before sleeping: from here on, each client that sends a verb rings. work() must run once more after it.
  void announce();
  // Called after sleeping.
  void retract();

 private:
  struct Ring {
    Channel* channel = nullptr;
    SleepFlag<>* server_asleep = nullptr;
    uint64_t accepted = 0;  // the latest verb
    int may_take = 0;       // verbs left in this round
    Stage stage = Stage::here;
    bool died = false;
    bool broken = false;  // it broke the rules: nothing more is taken
  };

  static void advance(Ring& ring, Stage to);
  void take_all(Round& round);
  bool take(int client, Ring& ring, Round& round);
  void distrust(int client, Ring& ring, Status why, Round& round);
  void dismiss_settled(Round& round);
  bool can_take() const;

  Host& host_;
  std::map<int, Ring> rings_;
};

}  // namespace tailrace::impl
