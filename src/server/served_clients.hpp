// ServedClients: serves the clients of a server. Checks what they send, writes it into the ledger, passes it to the
// client's Server, and drives the engine for all of them.
//
// It knows neither how clients are met nor where the ledger and the channels lie, so the simulator runs it as servers
// do. Members has the clients, Replay what a dead server had accepted from them. One thread.
#pragma once

#include <cstddef>
#include <utility>

#include "place/client_rings.hpp"
#include "recovery/ledger.hpp"
#include "server/members.hpp"
#include "server/replay.hpp"
#include "server/run_watch.hpp"

namespace tailrace::impl {

class ServedClients final : private ClientRings::Host {
 public:
  using Guest = Members::Guest;

  // Borrows `ledger`, `log` and `runs`.
  ServedClients(Ledger& ledger, Log& log, RunWatch& runs, Members::Equipment equipment);

  // Adds a client. What `guest` refers to must live until it is dismissed, or until this ends. `adopted`: an earlier
  // server served it. Call it for all of these, and then take_up_ledger() once.
  void begin(int client, Config config, const Guest& guest, bool adopted = false);
  // Restores the formats and files as the earlier server had them, and queues the verbs that it had accepted.
  void take_up_ledger() { replay_.begin(); }

  // Takes the clients' verbs, advances all work, and loses clients.
  ClientRings& rings() { return rings_; }
  // Returns true if no request of the client is unfinished.
  bool settled(int client) const override { return replay_.over() && members_.at(client).server->settled(); }
  const Members& members() const { return members_; }
  // See Members.
  void give_up_absent(const std::string& why) { members_.give_up_absent(why, runs_.times()); }

 private:
  // Implements ClientRings::Host.
  Status check(int client, const Descriptor& verb) const override;
  void accept(int client, const Descriptor& verb) override;
  void lost(int) override { runs_.departed(); }
  void leave(int client) override;
  // Returns true if the client's part of all files is published, or never will be.
  bool released(int client) const override;
  void dismiss(int client) override;
  void progress() override;
  bool ready() const override;

  void strike_out_passing();
  Urgency urgency() const;
  bool has_room() const;

  Ledger& ledger_;
  RunWatch& runs_;
  Members members_;
  Replay replay_;
  size_t passing_ = 0;       // ledger records of no iteration, since they were last struck out …
  size_t passing_kept_ = 0;  // … and how many the last striking out left
  ClientRings rings_{*this};
};

}  // namespace tailrace::impl
