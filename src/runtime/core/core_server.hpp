// CoreServer: the server of a node with all its parts, for place `core`. It is a composition root, beside Session
// and OwnServer: only these name concrete classes.
//
// It builds storage and engine when the first client comes, and a format for each client. Its directory keeps what
// another server would need to continue. It takes over what a dead server left: its clients' segments, and its
// ledger. ServerCore is its main loop. One thread.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/sync/doorbell.hpp"
#include "model/config/config.hpp"
#include "place/core/core_acceptor.hpp"
#include "place/core/runtime_directory.hpp"
#include "recovery/ledger.hpp"
#include "runtime/core/client_note.hpp"
#include "runtime/core/file_rights.hpp"
#include "runtime/core/system_processes.hpp"
#include "runtime/parts/server_parts.hpp"
#include "server/server_core.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

// Returns the default root of runtime directories; see RuntimeDirectory.
std::string default_runtime_root();
// Returns the path of the program that runs a CoreServer: $TAILRACE_SERVER, else beside this program or library, else
// on PATH. Fails with TAILRACE_NOT_FOUND.
Result<std::string> core_server_program();

struct CoreServerOptions {
  std::string root;    // of runtime directories
  std::string job;     // see RuntimeDirectory::job_name
  int server = 0;      // its number among the node's servers
  int announce = -1;   // a descriptor on which to report that it is ready, or why not; -1: none
  bool drain = false;  // write what an earlier server left, admit no client, and end
  std::optional<Nanoseconds> first_client_in;  // end if no client comes within this time; none: wait without limit
  std::string log_level = "warning";
  std::string log_file;  // empty: stderr
};

class CoreServer final : private CoreAcceptor::Host {
 public:
  // Serves until the last client has gone. Its process does nothing else.
  static Status run(const CoreServerOptions& options);

 private:
  // A client, from its greeting on.
  struct Guest {
    std::string message;  // as the client sent it
    pid_t process = 0;
    Config config;
    std::vector<std::unique_ptr<NameLock>> locks;
    Segment* segment = nullptr;  // until it is served
    Status prepared = {};
    std::optional<Result<LastIteration>> last = {};  // none: not looked for yet

    ClientNote note(int server, const std::string& run, bool served) const {
      return {server, process, process_begin(process), run, message, served};
    }
  };
  struct Preparation;

  CoreServer(const CoreServerOptions& options, RuntimeDirectory& job, Log& log);
  ~CoreServer() override;

  static void drain_own_servers(const CoreServerOptions& options, RuntimeDirectory& job, Log& log);
  static Status serve(const CoreServerOptions& options, RuntimeDirectory& job, Log& log, bool& announced);
  Status serve();
  Status check_own_server() const;
  Status abandon_all();
  Status adopt_all();
  Status adopt(int client, const ClientNote& note);
  bool others_are_alive() const;
  Status agree(const Config& config, const FileRights& rights);
  Status begin_run(const Config& config);
  std::optional<Slots::Turn> turn_of(const Config& config) const;
  Status prepare_actions();
  Status share_with_actions(int client, const Segment& segment);
  void give_back(int client);
  void remove_forgotten(const std::vector<std::string>& names) const;
  Status put_names(int client, const Guest& guest) const;
  void remove_names(int client) const;

  // Implements CoreAcceptor::Host.
  Result<CoreAcceptor::Needs> admit(int client, pid_t process, const std::string& configuration) override;
  Status prepare(int client, Segment& segment) override;
  Result<bool> serve(int client) override;
  bool is_busy() const override { return makes_way_; }
  void lose(int client, bool died) override { core_->lose(client, died); }
  bool gone(int client) const override { return core_->gone(client); }
  void dismissed(int client) override { give_back(client); }
  void refused() override { core_->refused(); }
  Result<bool> is_of_next_run(int client, pid_t process) override { return core_->is_of_next_run(client, process); }
  bool has_files_of(int client) const override { return giving_back_.contains(client); }
  bool gives_back() const override { return !giving_back_.empty(); }
  Result<LastIteration> last_iteration(int client) override;
  Status unknown(int client) const override;
  std::string description() const override;

  const CoreServerOptions options_;
  RuntimeDirectory& job_;
  Log& log_;
  const SteadyClock clock_;
  const SystemProcesses processes_;
  bool announced_ = false;
  Doorbell doorbell_;
  bool adopting_ = false;         // it takes over clients of an earlier server
  Status given_up_;               // why the data of the one that it just tried to take over are not needed any more
  bool left_aside_ = false;       // it has left data of an earlier server for one that can read them
  Status abandoned_;              // why data of an earlier server's clients are lost; ok: none are
  std::optional<Config> common_;  // the first client's configuration, for what all have in common
  FileRights rights_;             // the first client's, and since then those of this process
  ServerParts parts_;
  std::vector<std::unique_ptr<NameLock>> shared_locks_;  // of the storage; used if clients share files
  std::optional<Result<LastIteration>> shared_last_;     // last iteration, likewise; none: not looked for yet
  bool makes_way_ = false;                               // for all clients of files that they share
  std::optional<Ledger> ledger_;
  std::map<int, Guest> guests_;
  std::set<int> giving_back_;               // clients whose output directories are being unlocked
  std::unique_ptr<ServerActions> actions_;  // null: the configuration has no actions
  std::optional<CoreAcceptor> acceptor_;
  std::optional<ServerCore> core_;  // behind the acceptor, whose segments have the channels of its clients
  std::string run_;                 // the run being served, which the first client's coming begins
};

}  // namespace tailrace::impl
