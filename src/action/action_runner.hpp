// ActionRunner: runs the actions that the configuration binds to events, in order, and reports their results.
//
// It lies between the server, which knows the events and the blocks, and the plugin hosts, which run the functions:
// one host for each library or Python file, and one for the built-in statistics. Events run one at a time, and
// the actions of one event in the order of the configuration. An action that fails is reported once and not run
// again; the others continue. The runner never blocks, and reads no block itself. The built-ins `store` and `drop` do
// not run here: the server does them itself.
//
// How the server uses it: add_segment() for each client that comes, forget_segment() when it has left; start() once.
// When an event is due (EventTally): run(due, kept_blocks.of(…)). The blocks must stay in memory until the event is
// in `ended`. Sleep on fd() until it is readable, or until deadline(); then call progress(). Report its `failures` to
// all clients. For each of `ended`: write the findings to the log and into the file, and release the blocks. At the
// end call stop(), and progress() until stopped().
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
#include "model/config/config.hpp"

namespace tailrace::impl {

struct ActionOptions {
  std::string host_executable;                        // path of tailrace-plugin-host
  Nanoseconds load_limit = std::chrono::seconds(60);  // for loading a function: its imports may take long
  Nanoseconds stop_limit = std::chrono::seconds(5);   // for a host to end by itself
};

// The result of one action of an event.
struct ActionEnd {
  enum class How { done, failed, skipped };  // skipped: it failed earlier and is disabled

  uint32_t action = 0;  // index into Config::actions
  How how = How::done;
  std::vector<Finding> findings;
  std::vector<std::string> messages;  // for the log
  std::string output;                 // its output, for the log; a failed action's is in its failure
  uint64_t output_cut = 0;            // bytes of output beyond that
};

// An action that failed and is disabled. Its status names the action and, if there is one, the event and the
// iteration.
struct ActionFailure {
  uint32_t action = 0;
  Status status;
  std::string output;  // its output before the failure
};

struct EndedEvent {
  uint64_t number = 0;  // returned by run()
  DueEvent event;
  std::vector<ActionEnd> ends;
};

struct ActionProgress {
  std::vector<ActionFailure> failures;
  std::vector<EndedEvent> ended;
};

class ActionRunner {
 public:
  // Borrows `config` and `clock`. Fails if the system has no descriptor left.
  static Result<std::unique_ptr<ActionRunner>> create(const Config& config, ActionOptions options,
                                                      const Clock& clock);
  ActionRunner(const ActionRunner&) = delete;
  ActionRunner& operator=(const ActionRunner&) = delete;
  // Kills the processes that still run.
  ~ActionRunner();

  // Adds the memory of a client that contains its blocks. Opens it again, read-only; the caller keeps `fd`.
  Status add_segment(uint32_t number, int fd, uint64_t bytes);
  // Requires that no unfinished event has blocks in the segment. Views of it that plugins kept read as zeros from now
  // on.
  void forget_segment(uint32_t number);

  // Begins to start the hosts and to load the functions, so that missing ones are reported early.
  void start();
  // Runs the event's actions after those of all earlier events. `blocks` are the blocks for an action without
  // `variables`, in their order.
  uint64_t run(const DueEvent& event, std::vector<HeldBlock> blocks);

  ActionProgress progress();
  // Returns a descriptor that is readable when progress() has something to do. Constant for the runner's life.
  int fd() const { return epoll_.get(); }
  // Returns when progress() must be called at the latest; Nanoseconds::max() if there is no limit.
  Nanoseconds deadline() const;
  // Returns true if no event is unfinished.
  bool idle() const { return events_.empty(); }

  // Lets the hosts end by themselves. No event runs any more. Requires idle().
  void stop();
  bool stopped() const;

 private:
  enum class Phase { unloaded, loaded, disabled };

  // One library, one Python file or the built-in functions. The process starts at the first load.
  struct Host {
    std::vector<uint32_t> actions;  // that it contains
    std::optional<PluginHost> process;
    std::optional<uint32_t> busy;  // the action that is being loaded or called
    uint32_t last = 0;             // the action that was loaded or called last
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

  // Constant after construction.
  const Config& config_;
  const ActionOptions options_;
  const Clock& clock_;
  const FileDescriptor epoll_;
  std::vector<size_t> host_index_;  // one per action

  bool started_ = false;
  bool stopping_ = false;
  std::vector<Host> hosts_;
  std::vector<Phase> phases_;  // one per action
  std::map<uint32_t, Segment> segments_;
  std::deque<Event> events_;  // the first is running
  uint64_t next_number_ = 1;
  std::list<HostProcess> dying_;  // killed, and not reaped yet
  ActionProgress progress_;       // not reported yet
};

}  // namespace tailrace::impl
