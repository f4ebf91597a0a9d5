// OwnServer: serves a client in the client's own process and on its own thread, after the node's server has died
// (`on_server_loss: sync`). It is a composition root like CoreServer, with the same ServerCore, but it meets no other
// client.
//
// It takes the client over as another server would, with its own number, ledger and note. From the moment that the
// note names it, no other server writes for the client while its process lives. When the process has ended, a server
// with --drain continues under the same number, as after any other server's death. Only for files of one process,
// without actions.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/sync/doorbell.hpp"
#include "model/config/config.hpp"
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
  // Takes over from `server`, which has died. Borrows `job`, `config` and `log`; makes its own view of `segment`.
  // Returns TAILRACE_CLIENT_IN_USE if another server of that number lives, which then has the client.
  static Result<std::unique_ptr<StandIn>> take_over(RuntimeDirectory& job, int server, int client,
                                                    const Config& config, const Segment& segment, Log& log);
  ~OwnServer() override;

  void work(FunctionRef<bool()> done, Nanoseconds at_most) override;
  bool idle() const override;
  Status lost() const override { return lost_; }
  bool finish(Nanoseconds patience) override;

 private:
  OwnServer(RuntimeDirectory& job, int client, const Config& config, Log& log);

  Status build(const Segment& segment);
  Status take_client(int server);
  Status copy_ledger(int server);
  Status begin();
  void clean_up_after(int server);

  // Implements Acceptor. No other client comes, and StandIn's calls say when the client goes.
  bool has_company() const override { return true; }
  // Also before it sleeps: the last event may be the one that step() has just taken.
  bool has_news() const override { return (*done_)(); }
  void wait(std::optional<Nanoseconds> limit) override;
  void distrusted(int client, const Status& why) override;
  void dismissed(int, bool) override { dismissed_ = true; }

  RuntimeDirectory& job_;
  const int client_;
  const Config& config_;
  Log& log_;
  const SteadyClock clock_;
  const SystemProcesses processes_;
  uint64_t began_ = 0;      // when the client's process began, see ClientNote
  std::string run_;         // the client's, see ClientNote
  bool dismissed_ = false;  // the client was dismissed
  Status lost_;             // why, unless it has left
  // During step(): its end, and its longest sleep.
  const FunctionRef<bool()>* done_ = nullptr;
  Nanoseconds at_most_{0};

  // In the order of construction; each may use the members above it.
  std::unique_ptr<Segment> segment_;
  Doorbell doorbell_;
  ServerParts parts_;
  std::vector<std::unique_ptr<NameLock>> locks_;  // of the storage
  std::optional<Ledger> ledger_;
  std::optional<ServerCore> core_;
};

}  // namespace tailrace::impl
