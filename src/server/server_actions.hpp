// ServerActions: the actions of a node's clients. It counts which clients have raised which events, holds the blocks
// that actions get, runs the actions, and puts their findings into the iterations' files.
//
// It sits between the clients' servers, which report what they accept (ActionPort), and the ActionRunner. An
// iteration is not published while its actions run, or may still run because other clients have not ended it; each
// run is limited. Blocks are held until their iteration has left, and `keep` iterations longer, so that a server that
// replaces a dead one can run the actions of all unpublished iterations again. A client that waits for memory gets
// held blocks back when nothing else can help it; see make_room(). Runs on the server's thread; never waits.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "action/action_runner.hpp"
#include "action/kept_blocks.hpp"
#include "base/log.hpp"
#include "server/server.hpp"
#include "server/verbs/action_port.hpp"

namespace tailrace::impl {

class ServerActions final : public ActionPort {
 public:
  static constexpr size_t kMostEvents = 1024;  // most events under way, before the server takes no more verbs

  // Returns true if the configuration has any action to run.
  static bool needed(const Config& config);
  // `config` is that of any client; this uses only what all have in common. Borrows `config`, `clock` and `log`.
  static Result<std::unique_ptr<ServerActions>> create(const Config& config, ActionOptions options,
                                                       const Clock& clock, Log& log);

  // Adds a client's shared memory, whose first `bytes` bytes are its pool. Call it before the client joins.
  Status add_segment(int client, int fd, uint64_t bytes);
  // Adds a client. `server` reports what it accepts, and must live until dismiss().
  void join(int client, Server& server);
  // Notes a client that had come and left before an earlier server died.
  void note_left(int client) { tally_.note_left(client); }
  // Call it when everything that an earlier server had accepted is accepted again.
  void taken_up();
  // Stops waiting for clients that have not come yet.
  void give_up_absent() { begin(tally_.expect_no_more()); }
  // Returns true if an iteration waits for clients that have not come, or have not ended it.
  bool waits() const;
  // Notes that the client will raise nothing more.
  void leave(int client);
  // Returns true, after leave(), if no action needs anything of the client any more.
  bool released(int client) const;
  void dismiss(int client);

  // Makes progress. fd() and deadline() say what to wait for; see ActionRunner.
  void progress();
  int fd() const { return runner_->fd(); }
  Nanoseconds deadline() const;
  bool ready() const { return events_.size() < kMostEvents; }
  // Returns true if any action waits for all clients of the node.
  bool of_node() const { return of_node_; }

  // Lets the plugin hosts end in their own way, and waits for that, at most for the runner's limit. Call it after the
  // last client.
  void finish();

  // Implements ActionPort.
  void came(const Block& block, const Descriptor& verb, bool written) override;
  bool keeps(int client, const Descriptor& block) override;
  bool holds(int client, uint64_t sequence) const override;
  void raised(int client, const std::string& event, int64_t iteration) override;
  bool ending(int client, int64_t iteration) override;
  void dropping(int client, int64_t iteration) override;
  void left(int client, int64_t iteration) override;

 private:
  // The memory of a block that the client handed over.
  struct Memory {
    uint32_t block = 0;    // number in the pool
    bool written = false;  // its bytes are in the file; only actions need it
    bool kept = true;      // kept_ holds it
    uint32_t users = 0;    // events under way that use it
    std::shared_ptr<const Layout> layout;
  };

  // An iteration of a client, from the first event that was raised in it until it has left.
  struct Turn {
    uint32_t events = 0;  // events under way
    bool ended = false;
    bool waits = false;  // for other clients to end the iteration, too
    bool holds = false;  // this holds the iteration's publication
  };

  struct Member {
    Server* server = nullptr;
    std::map<int64_t, Turn> turns;
    std::map<uint64_t, Memory> memory;        // by the sequence of the block's verb
    std::optional<Nanoseconds> hungry_since;  // set while only other clients could help
    bool told_of_room = false;

    bool will_get_memory() const;
  };

  struct Event {
    DueEvent due;
    std::vector<std::pair<int, uint64_t>> blocks;  // client, sequence
  };

  ServerActions(const Config& config, const Clock& clock, Log& log);
  void begin(const std::vector<DueEvent>& all_due);
  void end_event(const EndedEvent& ended);
  void note_findings(const EndedEvent& ended, const ActionEnd& end);
  void tell(const ActionFailure& failure);
  void update(int client, int64_t iteration);
  void stop_waiting(int64_t iteration);
  void let_go(const std::vector<HeldBlock>& blocks);
  void give_back_if_free(Member& member, uint64_t sequence);
  void make_room(int client, Member& member);
  void give_up_oldest(int client, Member& member);

  // Constant after construction.
  const Config& config_;
  const Clock& clock_;
  Log& log_;
  const std::vector<bool> held_;          // by variable
  const std::vector<std::string> names_;  // of the actions, as findings name them
  const bool of_node_;                    // true if any action is of scope `node`
  const Nanoseconds patience_;            // the longest limit of an action

  // Used by the server's thread only.
  std::unique_ptr<ActionRunner> runner_;
  EventTally tally_;
  KeptBlocks kept_;
  std::map<int, Member> members_;
  std::map<uint64_t, Event> events_;  // events under way, by the runner's number
  std::vector<Status> failures_;      // of disabled actions, to report to clients that come later
};

}  // namespace tailrace::impl
