// OwnServer: what serves a client, in its own process and on its own thread, after the node's server has died
// (`on_server_loss: sync`). A composition root, like CoreServer, of which it has all but the clients' meeting.
//
// It takes the client over as another server would, with a number, a ledger and a note that are its own: from the
// moment that the note names it, nobody else writes for the client while its process lives. After that a server with
// --drain goes on by the same number, as after the death of any other. For files of one process, without actions.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/os/lock_file.hpp"
#include "base/sync/doorbell.hpp"
#include "channel/channel_ends.hpp"
#include "engine/engine.hpp"
#include "engine/schedule/scheduler.hpp"
#include "model/config.hpp"
#include "place/client_rings.hpp"
#include "place/core/runtime_directory.hpp"
#include "place/core/segment.hpp"
#include "place/core/stand_in.hpp"
#include "recovery/ledger.hpp"
#include "server/served_clients.hpp"
#include "storage/storage.hpp"

namespace tailrace::impl {

class OwnServer final : public StandIn, private ClientRings::Host {
 public:
  // In the place of `server`, which has died. `job`, `config` and `log` are borrowed; of `segment` it makes a view of
  // its own. TAILRACE_CLIENT_IN_USE if another server of that number lives, which then has the client.
  static Result<std::unique_ptr<StandIn>> take_over(RuntimeDirectory& job, int server, int client,
                                                    const Config& config, const Segment& segment, Log& log);
  ~OwnServer() override;

  void work(Nanoseconds at_most) override;
  bool idle() const override;
  bool finish(Nanoseconds patience) override;

 private:
  OwnServer(RuntimeDirectory& job, int client, const Config& config, Log& log);

  Status build(const Segment& segment);
  Status take_client(int server);
  Status copy_ledger(int server);
  Status begin();
  void clean_up_after(int server);
  bool move_on();

  // ClientRings::Host
  Status check(int client, const Descriptor& verb) override { return clients_->check(client, verb); }
  void accepted(int client, const Descriptor& verb) override { clients_->accepted(client, verb); }
  bool settled(int client) override { return clients_->settled(client); }
  void leave(int client) override { clients_->leave(client); }
  bool released(int client) override { return clients_->released(client); }
  void dismiss(int client) override;
  void progress() override { clients_->progress(); }
  bool ready() override { return clients_->ready(); }

  RuntimeDirectory& job_;
  const int client_;
  const Config& config_;
  Log& log_;
  const SteadyClock clock_;
  std::string run_;         // of the client, see ClientNote
  bool dismissed_ = false;  // the client

  // In the order of construction; each may use those above it.
  std::unique_ptr<Segment> segment_;
  std::vector<LockFile> locks_;
  Doorbell doorbell_;
  std::unique_ptr<Storage> storage_;
  std::unique_ptr<Scheduler> scheduler_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<FilterCrew> crew_;
  std::optional<Ledger> ledger_;
  std::optional<ChannelEnds> to_client_;
  std::optional<ServedClients> clients_;
  ClientRings rings_;
};

}  // namespace tailrace::impl
