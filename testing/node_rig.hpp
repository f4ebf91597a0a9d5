// NodeRig: a node on one thread: its clients, and the server of their files, with storage in memory.
//
// The server works when the test calls serve(), when a client waits, and when a client rings. A wait that would last
// until the clock advances is an error. Another server can replace it; storage, ledger and the clients' memory stay.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "channel/channel_memory.hpp"
#include "client/client.hpp"
#include "engine/engine.hpp"
#include "engine/schedule/fifo.hpp"
#include "engine/schedule/slots.hpp"
#include "server/served_clients.hpp"
#include "storage/memory/memory_storage.hpp"
#include "testing/kept_ledger.hpp"
#include "testing/kept_log.hpp"
#include "testing/no_processes.hpp"
#include "testing/sim_clock.hpp"

namespace tailrace::impl {

struct NodeRigOptions {
  EngineOptions engine = {};
  bool turns = false;   // the server is the second of two that take turns (engine/schedule/slots.hpp)
  bool on_ring = true;  // a client's ring makes the server work at once
  ChannelSizes channel = {.ring = 1024, .tickets = 64, .blocks = 256};  // variables: those of the configuration
  const Clock* clock = nullptr;                      // borrowed; null: one that only the test advances
  std::optional<LedgerRecord::Kind> last_line = {};  // of the first server, which dies after it (KeptLedger)
};

class NodeRig final {
 public:
  using Options = NodeRigOptions;

  // Each client has a configuration of its own, whose budget is the size of its pool.
  explicit NodeRig(const std::vector<Config>& clients, const Options& options = {});
  explicit NodeRig(const Config& client, const Options& options = {}) : NodeRig(std::vector{client}, options) {}
  // All clients are lost, and everything that they have sent ends.
  ~NodeRig();

  // Returns the client; makes it at the first call. A test that plays a client uses its end of the channel instead.
  Client& client(size_t number = 0);
  Channel& channel(size_t number = 0);

  ServedClients& server() { return *life_->clients; }
  // Runs the server until it has nothing to do. Returns why it does not believe a client; ok if it believes all.
  Status serve();
  void pass(Nanoseconds time);
  // Loses the client, which has not said goodbye, and serves.
  void lose(size_t number = 0);
  // The server ends, and another one continues with its ledger. Nothing must be under way.
  void change_servers();

  // Returns true if the server has dismissed all clients.
  bool gone() { return server().members().all().empty(); }
  uint64_t written(size_t number = 0) { return channel(number).counters.blocks_written.get(); }
  bool published(int64_t iteration) const;
  // Returns the time until the server's turn; none if nothing waits for it.
  std::optional<Nanoseconds> next_in() const;

  const KeptLedger::Lines& ledger() const { return lines_; }

  KeptLog log;

 private:
  struct Guest;
  // The parts that end with a server.
  struct Life {
    Life(NodeRig& rig, std::optional<LedgerRecord::Kind> last);

    Fifo fifo;
    Slots slots;
    Engine engine;
    Ledger ledger;
    std::deque<Channel> channels;  // the server's ends, by client
    RunWatch runs;
    std::optional<ServedClients> clients;
  };

  void begin_server(std::optional<LedgerRecord::Kind> last);
  void end_server();

  const Options options_;
  SimClock sim_clock_;
  const Clock& clock_;
  NoProcesses processes_;
  TraceLog trace_{0};
  Doorbell doorbell_;
  MemoryStorage storage_{doorbell_};
  KeptLedger::Lines lines_;
  uint32_t losses_ = 0;
  std::vector<std::unique_ptr<Guest>> guests_;
  std::unique_ptr<Life> life_;
};

}  // namespace tailrace::impl
