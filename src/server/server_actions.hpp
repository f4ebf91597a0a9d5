// ServerActions: the actions of a node's clients: counts who has raised what, holds the blocks that actions get, has
// them run, and brings what they found into the iterations' files.
//
// Between the clients' servers, which tell what they accept (ActionPort), and the ActionRunner. An iteration is not
// published while actions of it run, or may come to run, since other clients have yet to end it; each run is limited.
// Blocks are held until their iteration has left, so that a server that comes after a death runs the actions of all
// unpublished iterations again, and `keep` iterations longer. A client that waits for memory gets held blocks back
// when nothing else can help it: see make_room(). The server's thread; never waits.
//
// More than 35 functions: half of them answer two ports (ActionPort, ActionRunner's sink) and the serving loop.
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
  static constexpr size_t kMostEvents = 1024;  // under way, before no more verbs are taken

  // Returns true if the configuration has any action to run.
  static bool needed(const Config& config);
  // `config` is that of any client, for what they have in common; it, clock and log are borrowed.
  static Result<std::unique_ptr<ServerActions>> create(const Config& config, ActionOptions options,
                                                       const Clock& clock, Log& log);
  ~ServerActions() override;

  // A client's shared memory, whose pool are the first `bytes`. Before it joins.
  Status add_segment(int client, int fd, uint64_t bytes);
  // A client comes: `server`, which will tell what it accepts, stays until dismiss().
  void join(int client, Server& server);
  // One that had come and left, before an earlier server died.
  void note_left(int client) { tally_.note_left(client); }
  // All that an earlier server had accepted has been accepted again.
  void taken_up();
  // Clients that have yet to come are not waited for any more.
  void give_up_absent() { begin(tally_.expect_no_more()); }
  // Returns true if an iteration waits for clients that have yet to come or to end it.
  bool waits() const;
  // The client will raise nothing more.
  void leave(int client);
  // After it: whether no action needs anything of it any more.
  bool released(int client) const;
  void dismiss(int client);

  // Moves on. Descriptor and time limit to wait for: see ActionRunner.
  void progress();
  int fd() const { return runner_->fd(); }
  Nanoseconds deadline() const;
  bool ready() const { return events_.size() < kMostEvents; }
  // Returns true if any action waits for all clients of the node.
  bool of_node() const { return of_node_; }

  // Lets the plugin hosts end in their own way, which takes at most the runner's limit. After the last client. Waits.
  void finish();

  // ActionPort
  void came(const Block& block, const Descriptor& verb, bool written) override;
  bool keeps(int client, const Descriptor& block) override;
  bool holds(int client, uint64_t sequence) const override;
  void raised(int client, const std::string& event, int64_t iteration) override;
  bool ending(int client, int64_t iteration) override;
  void dropping(int client, int64_t iteration) override;
  void left(int client, int64_t iteration) override;

 private:
  // The memory of a block that was handed over.
  struct Memory {
    uint32_t block = 0;    // of the pool
    bool written = false;  // only actions need it
    bool kept = true;      // by kept_
    uint32_t users = 0;    // events under way that have it
    std::shared_ptr<const Layout> layout;
  };

  // An iteration of a client, from the first that was raised in it until it has left.
  struct Turn {
    uint32_t events = 0;  // under way
    bool ended = false;
    bool waits = false;  // for other clients to end it, too
    bool holds = false;  // its publication
  };

  struct Member {
    Server* server = nullptr;
    std::map<int64_t, Turn> turns;
    std::map<uint64_t, Memory> memory;  // by the sequence of its verb
    bool has_left = false;
    std::optional<Nanoseconds> hungry_since;  // while only other clients could help
    bool told_of_room = false;
  };

  struct Event {
    DueEvent due;
    std::vector<std::pair<int, uint64_t>> blocks;  // client, sequence
  };

  ServerActions(const Config& config, const Clock& clock, Log& log);
  void begin(const std::vector<DueEvent>& due);
  void begin(const DueEvent& due);
  void end_event(const EndedEvent& ended);
  void note_findings(const EndedEvent& ended, const ActionEnd& end);
  void log_output(const Action& action, const ActionEnd& end);
  void tell(const ActionFailure& failure);
  void update(int client, int64_t iteration);
  void stop_waiting(int64_t iteration);
  void let_go(const HeldBlock& block);
  void let_go(const std::vector<HeldBlock>& blocks);
  void give_back_if_free(Member& member, uint64_t sequence);
  void make_room(int client, Member& member);
  static bool will_get_memory(const Member& member);
  void give_up_oldest(int client, Member& member);
  void wait() const;

  // Constant after construction.
  const Config& config_;
  const Clock& clock_;
  Log& log_;
  const std::vector<bool> held_;          // by variable
  const std::vector<std::string> names_;  // of the actions, in findings
  const bool of_node_;                    // whether any action is of scope `node`
  const Nanoseconds patience_;            // the longest limit of an action

  // The server's thread only.
  std::unique_ptr<ActionRunner> runner_;
  EventTally tally_;
  KeptBlocks kept_;
  std::map<int, Member> members_;
  std::map<uint64_t, Event> events_;  // under way, by the runner's number
  std::vector<Status> failures_;      // of disabled actions, for clients that come later
};

}  // namespace tailrace::impl
