// Session: one open client with all its parts. It is a composition root, like CoreServer: only these name concrete
// classes.
//
// It builds client and place from a configuration, and for place `thread` also the server's half: storage, engine and
// server. It starts them, and takes them down in the right order. It decides nothing else.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/sync/doorbell.hpp"
#include "client/client.hpp"
#include "config/config_yaml.hpp"
#include "model/config/config.hpp"
#include "model/wire/core_wire.hpp"
#include "place/thread/thread_place.hpp"
#include "runtime/core/system_processes.hpp"
#include "runtime/parts/server_parts.hpp"
#include "server/lone_server.hpp"
#include "storage/file_system.hpp"

namespace tailrace::impl {

class Session {
 public:
  static Result<std::unique_ptr<Session>> open(const ConfigInput& input);
  // Finishes everything that was accepted first.
  ~Session();

  // Waits until everything has ended, and writes what the configuration's `measurements` ask for; adds failures to
  // failures(). Call it once, at the end.
  void finish();

  Client& client() { return *client_; }
  const Config& config() const { return config_; }
  int client_id() const { return client_id_; }
  const ServerCounters& server_counters() { return place_->channel().counters; }
  const VariableCounters& server_counters(uint32_t variable) { return place_->channel().variables[variable]; }
  // Returns how many iterations may be unfinished at once, at present.
  uint32_t iterations_at_once() { return place_->channel().unfinished.limit(); }
  // Returns the latest iterations of which the server has taken a verb.
  std::vector<IterationFigures> iterations() { return place_->channel().iterations.read(); }
  // Call these after finish().
  const TraceLog& client_trace() const { return client_trace_; }
  const TraceLog& server_trace() const { return server_trace_; }
  FailureLog& failures() { return place_->channel().failures; }
  // Returns the last iteration that an earlier run has published, when the client was opened; none: there is none.
  const Result<LastIteration>& last_iteration() const { return last_iteration_; }
  // Returns the text of tailrace_describe.
  const std::string& description() const { return description_; }

 private:
  Session(Config config, int client)
      : config_(std::move(config)),
        client_id_(client),
        client_trace_(config_.measurements.trace ? config_.measurements.trace_events : 0),
        server_trace_(config_.measurements.trace ? config_.measurements.trace_events : 0) {}
  CpuSet choose_writer_cpus() const;
  Status build_for_thread();
  void start_server(ThreadPlace& place);
  Status build_for_core(const ConfigInput& input);
  void log_what_is_untold();
  void log_what_was_cached();

  // In the order of construction; each may use the members above it. Constant once open.
  const Config config_;
  const int client_id_;
  SteadyClock clock_;
  SystemProcesses processes_;
  TraceLog client_trace_;
  TraceLog server_trace_;
  std::unique_ptr<Log> log_;
  Doorbell doorbell_;
  std::unique_ptr<Place> place_;
  // For place `thread`: the server's half.
  std::shared_ptr<CpuGroup> cpus_;  // of its threads; null: any
  ServerParts parts_;
  std::vector<std::unique_ptr<NameLock>> locks_;  // of the storage
  std::optional<LoneServer> server_;
  std::unique_ptr<Client> client_;
  Result<LastIteration> last_iteration_ = LastIteration();
  std::string description_;
};

}  // namespace tailrace::impl
