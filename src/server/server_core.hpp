// ServerCore: the main loop of every server. It lets the clients' verbs be taken and all work move on, waits for
// clients that have not come yet, keeps the processes of one run apart from those of the next, sleeps when there is
// nothing to do, and ends after the last client.
//
// Everything that differs between places is passed in: the clock, the doorbell, the ledger, the engine on its
// storage, the formats, and the acceptor that meets the clients. So the simulator runs exactly this code. One thread.
#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/sync/cpu_group.hpp"
#include "base/sync/doorbell.hpp"
#include "engine/engine.hpp"
#include "place/acceptor.hpp"
#include "recovery/ledger.hpp"
#include "server/earlier_run.hpp"
#include "server/run_watch.hpp"
#include "server/served_clients.hpp"

namespace tailrace::impl {

class ServerCore final {
 public:
  struct Options {
    bool drain = false;                          // write what an earlier server left, admit no client, and end
    std::optional<Nanoseconds> first_client_in;  // end if no client comes within this time; none: wait without limit
  };

  using Equipment = Members::Equipment;
  using Guest = Members::Guest;

  // Borrows all but `options`.
  ServerCore(const Clock& clock, const ProcessClock& processes, Doorbell& doorbell, Ledger& ledger, Log& log,
             Options options);
  ~ServerCore();

  // Call it before the first client. `common` has what all clients' configurations have in common.
  void equip(const Config& common, Equipment equipment);

  // Adds a client. What `guest` refers to must live until the acceptor is told that the client is dismissed.
  void begin(int client, Config config, const Guest& guest);
  // Adds a client that an earlier server met. `began`: when its process began, as that server noted it; `alive`: the
  // process still lives; `has_left`: it has said goodbye.
  void adopt(int client, Config config, const Guest& guest, uint64_t began, bool alive, bool has_left);
  // Continues where the earlier server stopped. Call it once, when all its clients were adopted.
  void take_up_ledger();

  // Notes that the client is gone. The server dismisses it when all its verbs have ended. `died`: it did not say
  // goodbye.
  void lose(int client, bool died) { clients_->rings().lose(client, died); }
  bool gone(int client) const { return clients_->members().is_gone(client); }
  // Returns true if the process, which wants to come as that new client, belongs to the next run: it has to wait for
  // the next server. Fails if the process may not come at all.
  Result<bool> is_of_next_run(int client, pid_t process);
  // Notes that a client was refused. A server that was started for that client then ends without waiting for others.
  void refused() { had_client_ = had_client_ || options_.first_client_in.has_value(); }
  // Returns the numbers of all clients that have come in this run.
  const std::set<int>& came() const;

  // Serves until the last client has gone, or the last of this run while clients of the next one wait.
  void run(Acceptor& acceptor);
  // Runs one round of run(): takes what was sent and moves all work on. If there is nothing to do, sleeps in
  // Acceptor::wait(). Returns false if run() would end.
  bool step(Acceptor& acceptor);
  // Returns true if no verb of the client is under way.
  bool settled(int client) const { return clients_->settled(client); }
  // Returns the first failure of an iteration that no client was left to report; ok if there was none. Call it before
  // finish().
  Status unwritten() const;

  // Call it after run(): waits until nothing is under way. Returns true if the ledger must outlive this server: the
  // next one needs it to refuse clients that come after their run.
  bool finish();

 private:
  bool work(Acceptor& acceptor);
  bool is_over(const Acceptor& acceptor);
  bool has_waited_for_others();
  void sleep(Acceptor& acceptor);
  void look_at_cpus();
  std::optional<Nanoseconds> limit() const;
  bool look_for_absent(const Acceptor& acceptor);
  std::optional<Nanoseconds> absent_due() const;
  Nanoseconds patience() const;
  bool is_empty() const;
  bool all_gone() const;
  bool run_is_over() const;

  const Clock& clock_;
  Doorbell& doorbell_;
  Ledger& ledger_;
  Log& log_;
  const Options options_;
  std::optional<Config> common_;
  Engine* engine_ = nullptr;
  ServerActions* actions_ = nullptr;
  std::shared_ptr<CpuGroup> cpus_;        // null: any
  std::optional<CpuGroup::Member> here_;  // the thread that serves, after its first sleep
  RunWatch runs_;
  std::optional<ServedClients> clients_;  // none: no client has come yet
  EarlierRun earlier_run_;                // until another one begins
  bool begins_run_ = false;               // with its first client: no client has been adopted
  bool continues_run_ = false;            // … the first client belongs to the run before, which goes on
  const Nanoseconds began_;
  bool had_client_ = false;
  std::optional<Nanoseconds> alone_until_;  // when the server ends if no other client comes, after the last one has
                                            // gone
  std::optional<Nanoseconds> waits_since_;  // when it began to wait for clients that have not come yet
  bool warned_of_absent_ = false;
};

}  // namespace tailrace::impl
