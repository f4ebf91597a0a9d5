// ActionRunner: runs what the configuration binds to events, in order, and says what came of it.
//
// Between the server, which knows what was raised and where the blocks lie, and the plugin hosts, which run the
// functions: one host for each library or Python file, and one for the built-in statistics. Events run one after the
// other, and of one event the actions in the order of the configuration. What fails is told once and not run again;
// the rest goes on. Never blocks, and touches no block itself. The built-ins `store` and `drop` are not run here:
// they are the server's own.
//
// How the server uses it:
//   add_segment() for each client that comes, forget_segment() when it has left; start() once.
//   An event is due (EventTally) → run(due, kept_blocks.of(…)). The blocks must stay in memory until it is in
//   `ended`. Sleep on fd() (readable: call progress()) until deadline() at the latest. progress() → failures: tell
//   all clients. ended: findings to the log and into the file; blocks may go. At the end stop(), and progress() until
//   stopped().
#pragma once

#include <cstdint>
#include <deque>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "action/event_tally.hpp"
#include "action/held_block.hpp"
#include "action/plugin_host.hpp"

namespace tailrace::impl {

struct ActionOptions {
  std::string host_executable;                        // path of tailrace-plugin-host
  Nanoseconds load_limit = std::chrono::seconds(60);  // to find a function: its imports may take long
  Nanoseconds stop_limit = std::chrono::seconds(5);   // for a host to end in its own way
};

// The result of one action of an event.
struct ActionEnd {
  enum class How { done, failed, skipped };  // skipped: it failed earlier, and is disabled

  uint32_t action = 0;  // index into Config::actions
  How how = How::done;
  std::vector<Finding> findings;
  std::vector<std::string> messages;  // for the log
  std::string output;                 // what it printed, for the log; of a failed one the failure has it
  uint64_t output_cut = 0;            // bytes that it printed beyond that
};

// An action that has failed and is disabled. Its status names the action, and event and iteration if there are any.
struct ActionFailure {
  uint32_t action = 0;
  Status status;
  std::string output;  // what it printed before
};

struct EndedEvent {
  uint64_t number = 0;  // that run() returned
  DueEvent event;
  std::vector<ActionEnd> ends;
};

struct ActionProgress {
  std::vector<ActionFailure> failures;
  std::vector<EndedEvent> ended;
};

class ActionRunner {
 public:
  // `config` and `clock` are borrowed. Fails if the system has no descriptor left.
  static Result<std::unique_ptr<ActionRunner>> create(const Config& config, ActionOptions options,
                                                      const Clock& clock);
  ActionRunner(const ActionRunner&) = delete;
  ActionRunner& operator=(const ActionRunner&) = delete;
  // Kills what still runs.
  ~ActionRunner();

  // Memory of a client, in which its blocks lie. The runner opens it anew, read-only; `fd` stays the caller's.
  Status add_segment(uint32_t number, int fd, uint64_t bytes);
  // Requires that no event under way has blocks in it. Plugins that kept views of it read zeros from now on.
  void forget_segment(uint32_t number);

  // Begins to start the hosts and to load the functions, so that what is not there is told early.
  void start();
  // Runs the actions of the event's scope, after those of all earlier events. `blocks` are what an action without
  // `variables` gets, in their order.
  uint64_t run(const DueEvent& event, std::vector<HeldBlock> blocks);

  ActionProgress progress();
  // Readable when progress() has something to do. The same for the runner's life.
  int fd() const { return epoll_.get(); }
  // When progress() must be called at the latest; Nanoseconds::max() if that does not matter.
  Nanoseconds deadline() const;
  // No event is under way.
  bool idle() const { return events_.empty(); }

  // Lets the hosts end in their own way. No event is run any more. Requires idle().
  void stop();
  bool stopped() const;

 private:
  enum class Phase { unloaded, loaded, disabled };

  // One library, one Python file or the built-in functions; the host runs from the first load on.
  struct Host {
    std::vector<uint32_t> actions;  // in it
    std::optional<PluginHost> process;
    std::optional<uint32_t> busy;  // action that is being loaded or called
    uint32_t last = 0;             // action that was loaded or called last
  };

  struct Event {
    uint64_t number = 0;
    DueEvent due;
    std::vector<HeldBlock> blocks;
    std::vector<uint32_t> actions;  // to run
    size_t next = 0;                // index into actions
    bool running = false;           // actions[next] is being called
    std::vector<ActionEnd> ends;
  };

  struct Segment {
    FileDescriptor fd;  // read-only
    uint64_t bytes = 0;
  };

  ActionRunner(const Config& config, ActionOptions options, const Clock& clock, FileDescriptor epoll);
  Host& host_of(uint32_t action) { return hosts_[host_index_[action]]; }
  bool start_host(Host& host);
  bool load_next(Host& host);
  void host_ended(Host& host, HostEnd ended);
  void call_ended(HostEnd ended, bool failed);
  void advance_events();
  bool advance(Event& event);
  PluginCall call_of(const Event& event, const Action& action) const;
  void fail(uint32_t action, const std::string& why, std::string output, const Event* event);
  void reap_dying();

  // Constant after construction.
  const Config& config_;
  const ActionOptions options_;
  const Clock& clock_;
  const FileDescriptor epoll_;
  std::vector<size_t> host_index_;  // an action each

  bool started_ = false;
  bool stopping_ = false;
  std::vector<Host> hosts_;
  std::vector<Phase> phases_;  // an action each
  std::map<uint32_t, Segment> segments_;
  std::deque<Event> events_;  // the first is running
  uint64_t next_number_ = 1;
  std::list<HostProcess> dying_;  // killed, and not reaped yet
  ActionProgress progress_;       // what was not told yet
};

}  // namespace tailrace::impl
