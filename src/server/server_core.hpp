// ServerCore: what a server of several clients does all its life: takes what they send, moves it on, waits for those
// who are missing, tells one run from the next, sleeps, and ends.
//
// Whatever differs from one place to another is passed in: the clock, the doorbell, the ledger, the engine on its
// storage, formats, and the acceptor that meets the clients. So the simulator runs exactly this. One thread.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/sync/doorbell.hpp"
#include "channel/channel_ends.hpp"
#include "engine/engine.hpp"
#include "place/acceptor.hpp"
#include "place/client_rings.hpp"
#include "recovery/ledger.hpp"
#include "server/earlier_run.hpp"
#include "server/run_watch.hpp"
#include "server/served_clients.hpp"

namespace tailrace::impl {

class ServerCore final : private ClientRings::Host {
 public:
  struct Options {
    bool drain = false;                          // writes what an earlier server left, meets nobody, and ends
    std::optional<Nanoseconds> first_client_in;  // ends if nobody comes by then; none: waits
  };

  // The parts that the first client's configuration decides. All is borrowed but the functions.
  struct Equipment {
    Engine& engine;
    ServedClients::MakeFormat make_format;
    FilterCrew* crew = nullptr;  // needed if there are filtered variables
    ServedClients::Descriptors descriptors = ServedClients::as_many_as_wanted;
    uint32_t expected = 1;  // clients that may come, if their configuration does not say it
  };

  // A client's side of its channel, and its process.
  struct Guest {
    Channel& channel;
    SleepFlag<>& server_asleep;
    pid_t process = 0;
  };

  // All but `options` are borrowed.
  ServerCore(const Clock& clock, const ProcessClock& processes, Doorbell& doorbell, Ledger& ledger, Log& log,
             Options options);
  ~ServerCore() override;

  // Before the first client. `common`: what all clients' configurations have in common.
  void equip(const Config& common, Equipment equipment);
  // Has the clients' actions run; before any comes. Borrowed.
  void serve_actions(ServerActions& actions);

  // A client comes. What `guest` refers to stays until the acceptor is told that the client is dismissed.
  void begin(int client, Config config, const Guest& guest);
  // Adds a client that an earlier server met. `began`: when its process did, as that server noted it; `alive`: the
  // process still lives; `has_left`: it has said goodbye.
  void adopt(int client, Config config, const Guest& guest, uint64_t began, bool alive, bool has_left);
  // Goes on where the earlier server stopped. Once all have been adopted.
  void take_up_ledger();

  // The client is gone; it is dismissed once all that it sent has been done. `died`: without saying goodbye.
  void lose(int client, bool died) { rings_.lose(client, died); }
  bool gone(int client) const { return rings_.gone(client); }
  // Returns true if the process, which wants to come as that new client, is of a run after the one that is served: it
  // has to wait for the next server. Fails if it may not come at all.
  Result<bool> is_of_next_run(int client, pid_t process);
  // Somebody could not be let in. A server that was started for him need not wait for others.
  void refused() { had_client_ = had_client_ || options_.first_client_in.has_value(); }
  // The numbers of those who have ever come in this run.
  const std::set<int>& came() const;

  // Serves until the last client has gone, or the last of a run while clients of the next one wait.
  void run(Acceptor& acceptor);
  // One round of run(): takes what was sent and moves everything on, or, if there is nothing to do, sleeps in
  // Acceptor::wait(). Returns false if run() would end.
  bool step(Acceptor& acceptor);
  // Returns true if nothing that the client sent is under way.
  bool settled(int client) const override { return clients_->settled(client); }
  // After it: waits until nothing is under way any more. Returns true if the ledger must outlive this server: the
  // next one needs it to refuse clients that come after their run.
  bool finish();

 private:
  // ClientRings::Host
  Status check(int client, const Descriptor& verb) override { return clients_->check(client, verb); }
  void accepted(int client, const Descriptor& verb) override { clients_->accepted(client, verb); }
  void lost(int client) override;
  void leave(int client) override { clients_->leave(client); }
  bool released(int client) override { return clients_->released(client); }
  void dismiss(int client) override { clients_->dismiss(client); }
  void progress() override;
  bool ready() override { return clients_ && clients_->ready(); }

  ClientEnds& reach(int client, const Guest& guest);
  bool work(Acceptor& acceptor);
  bool is_over(const Acceptor& acceptor);
  bool has_waited_for_others();
  void sleep(Acceptor& acceptor);
  std::optional<Nanoseconds> limit() const;
  void look_for_absent();
  std::optional<Nanoseconds> absent_due() const;
  Nanoseconds patience() const;
  bool all_gone() const;
  bool run_is_over() const;

  const Clock& clock_;
  Doorbell& doorbell_;
  Ledger& ledger_;
  Log& log_;
  const Options options_;
  ClientRings rings_;
  std::optional<Config> common_;
  Engine* engine_ = nullptr;
  ServerActions* actions_ = nullptr;
  std::map<int, ChannelEnds> ends_;       // by client
  std::optional<ServedClients> clients_;  // none: nobody has come yet
  std::set<int> here_;                    // clients that have come and not been dismissed
  RunWatch runs_;
  EarlierRun earlier_run_;   // until another one begins
  bool begins_run_ = false;  // with its first client: nobody has been adopted
  const Nanoseconds began_;
  bool had_client_ = false;
  std::optional<Nanoseconds> alone_until_;  // how long it stays, since the last client has gone
  std::optional<Nanoseconds> waits_since_;  // for clients that have yet to come
  bool warned_of_absent_ = false;
};

}  // namespace tailrace::impl
