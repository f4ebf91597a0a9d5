// SimNode: a node with the server of place `core`, as a process that may die at any point of choice and be replaced
// by another. It has the real ServerCore, Ledger, engine and format, on everything that outlives a server: segments,
// the ledger's lines, the disk.
//
// It replaces CoreServer, CoreAcceptor and the sockets between client and server: meeting, admission, goodbye. A
// server is a fiber; the remains of a killed one stay unchanged for ever.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include "model/wire/core_wire.hpp"
#include "server/process_clock.hpp"
#include "testing/simulation/session_plan.hpp"
#include "testing/simulation/sim_segment.hpp"
#include "testing/simulation/sim_storage.hpp"

namespace tailrace::impl::simulation {

class SimNode {
 public:
  // The channel of an admitted client, or the reason why it was refused.
  struct Met {
    SimSegment* segment = nullptr;
    uint64_t life = 0;  // of the server
    Status refusal;
  };

  // Borrows all its objects. `clients` are the plans by number.
  SimNode(World& world, SimDisk& disk, Faults& faults, uint64_t seed, const NodePlan& plan,
          const std::vector<ClientPlan>& clients);
  ~SimNode();

  // ---- a client, on its fiber ----

  // Meets the server, and starts one if there is none. `process`: see begin_process().
  Met meet(int client, bool again, pid_t process);
  // Meets the server if there is one and it does not end meanwhile.
  std::optional<Met> meet_running(int client, bool again, pid_t process);
  // Returns true if the server of this life is serving now.
  bool is_alive(uint64_t life) const;
  // Wakes the server of that life, if it is alive.
  void ring(uint64_t life);
  void say_goodbye(int client, pid_t process);

  // ---- from anywhere ----

  // Returns the process of each client when the node is made.
  static pid_t first_process(int client) { return client + 1; }
  // Returns one more process, for a process that comes as that client.
  pid_t begin_process();
  // Notes that the process has ended. Call it once.
  void process_ended(pid_t process);
  // Returns the clients that any server has admitted.
  const std::set<int>& ever_welcome() const { return ever_welcome_; }
  // Returns true if the client is the only one that is served, or whose data are still being written.
  bool serves_only(int client) const { return guests_.size() == 1 && guests_.contains(client); }
  // Sets the function that is called for each client some time after a server's death, when that client notices it.
  void set_on_loss(std::function<void(int client)> on_loss) { on_loss_ = std::move(on_loss); }
  // Returns true if a server could not go on for the clients of an earlier one, whose ledger lacked records.
  bool has_abandoned() const { return has_abandoned_; }
  // Kills the server as by kill -9.
  void kill_server();
  // Cuts the power: the server dies, and the contents of memory are lost.
  void lose_power();

  // ---- from outside ----

  // Starts a server, as `tailrace recover` does, if one is needed to complete what is left. Returns true if it did.
  bool drain();
  // Returns a number: all lives below it were killed, or have ended; 0: none was killed.
  uint64_t killed_before() const { return killed_before_; }

 private:
  struct Life;
  struct Store;

  // A client in the runtime directory.
  struct Guest {
    std::unique_ptr<SimSegment> segment;
    pid_t process = 0;
    uint64_t began = 0;         // when the process began
    bool written_down = false;  // another server can find it
  };
  // A client's message to a server.
  struct Message {
    enum class Kind { hello, goodbye, died };
    Kind kind = Kind::hello;
    int client = 0;
    pid_t process = 0;
    bool again = false;
    bool answered = false;
    SimSegment* segment = nullptr;
    Status refusal = {};
  };

  // Processes and their times, as servers see them.
  struct Processes final : ProcessClock {
    explicit Processes(const World& world_in) : world(world_in) {}
    uint64_t began(pid_t process) const override {
      const auto found = living.find(process);
      return found == living.end() ? 0 : found->second;
    }
    uint64_t now() const override { return static_cast<uint64_t>(world.time().count()) + 1; }
    uint64_t ticks(Nanoseconds time) const override { return static_cast<uint64_t>(time.count()); }

    const World& world;
    std::map<pid_t, uint64_t> living;  // by process: when it began
  };

  void start_server();
  void live(Life& life);
  void equip(Life& life);
  void abandon_all(Life& life);
  void adopt_all(Life& life);
  void listen(Life& life);
  void hear(Life& life, Message& message);
  void greet(Life& life, Message& hello);
  Status check_return(const Life& life, const Message& hello) const;
  void admit(Life& life, const Message& hello);
  const ClientPlan& plan_of(int client) const;
  void lose(Life& life, const Message& message, bool died);
  void let_go(Life& life, int client);
  void tell(Message::Kind kind, int client, pid_t process);
  void unlink(int client);
  void end(Life& life);
  void take_back_last_push();
  void may_die_at(const LedgerRecord& line, bool before);

  World& world_;
  SimDisk& disk_;
  Faults& faults_;
  const uint64_t seed_;
  const NodePlan& plan_;
  const std::vector<ClientPlan>& clients_;
  std::function<void(int client)> on_loss_;
  SplitDice dice_;

  // The state that outlives a server.
  std::map<int, Guest> guests_;
  std::vector<LedgerRecord> ledger_;
  Processes processes_;
  pid_t last_process_;
  std::set<int> ever_welcome_;
  std::vector<std::unique_ptr<SimSegment>> unlinked_;  // clients may still use them

  std::vector<std::unique_ptr<Life>> lives_;  // lives that ended by themselves, and the present one
  Life* current_ = nullptr;
  uint64_t started_ = 0;
  uint64_t killed_before_ = 0;
  bool drains_ = false;  // no client comes any more
  bool has_abandoned_ = false;
  std::optional<LineDeath> line_death_;  // not hit yet
};

}  // namespace tailrace::impl::simulation
