// OwnServer: what serves a client, in its own process and on its own thread, after the node's server has died
// (`on_server_loss: sync`). A composition root, like CoreServer, with the same ServerCore, but it meets nobody.
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
#include "base/sync/doorbell.hpp"
#include "model/config.hpp"
#include "place/acceptor.hpp"
#include "place/core/runtime_directory.hpp"
#include "place/core/segment.hpp"
#include "place/core/stand_in.hpp"
#include "recovery/ledger.hpp"
#include "runtime/core/system_processes.hpp"
#include "runtime/parts/server_parts.hpp"
#include "server/server_core.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

class OwnServer final : public StandIn, private Acceptor {
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

  // Acceptor: nobody else comes, and the client is told by the calls of StandIn when it goes.
  bool has_company() const override { return true; }
  void wait(std::optional<Nanoseconds> limit) override;
  void distrusted(int client, const Status& why) override;
  void dismissed(int, bool) override { dismissed_ = true; }

  RuntimeDirectory& job_;
  const int client_;
  const Config& config_;
  Log& log_;
  const SteadyClock clock_;
  const SystemProcesses processes_;
  uint64_t began_ = 0;      // the client's process, see ClientNote
  std::string run_;         // of the client, see ClientNote
  bool dismissed_ = false;  // the client
  Nanoseconds at_most_{0};  // that step() may sleep

  // In the order of construction; each may use those above it.
  std::unique_ptr<Segment> segment_;
  std::vector<std::unique_ptr<NameLock>> locks_;
  Doorbell doorbell_;
  ServerParts parts_;
  std::optional<Ledger> ledger_;
  std::optional<ServerCore> core_;
};

}  // namespace tailrace::impl
