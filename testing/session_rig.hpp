// SessionRig: a whole session (client, place `thread`, server, engine, format) over storage that a test controls: in
// memory or on disk, with faults by plan, and a gate that holds transfers back.
//
// The thread is real. It writes nothing to disk unless on_disk is set.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "client/client.hpp"
#include "engine/engine.hpp"
#include "engine/schedule/fifo.hpp"
#include "format/hdf5/hdf5_format.hpp"
#include "place/thread/thread_place.hpp"
#include "server/lone_server.hpp"
#include "storage/memory/memory_storage.hpp"
#include "testing/fault_storage.hpp"
#include "testing/gated_storage.hpp"
#include "testing/hdf5_file.hpp"
#include "testing/kept_log.hpp"
#include "testing/no_processes.hpp"

namespace tailrace::impl {

struct SessionRigOptions {
  FaultPlan plan = {};
  uint64_t seed = 1;
  EngineOptions engine = {};
  bool on_disk = false;               // back end `posix`; else memory
  bool shut = false;                  // the gate is shut at the start
  uint32_t filter_threads = 1;        // 0: the server's own
  uint64_t descriptors = UINT32_MAX;  // for the files of iterations
  // Makes the format; empty: HDF5.
  std::function<std::unique_ptr<Format>(const Config& config)> format = {};
};

class SessionRig {
 public:
  explicit SessionRig(Config config, SessionRigOptions options = {});
  // Opens the gate and stops.
  ~SessionRig();

  Client& client() { return *client_; }
  GatedStorage& gate() { return *gate_; }
  const Config& config() const { return config_; }
  const KeptLog& log() const { return log_; }
  FailureLog& failures() { return place_->channel().failures; }
  const ServerCounters& counters() { return place_->channel().counters; }
  const VariableCounters& counters(uint32_t variable) { return place_->channel().variables[variable]; }
  std::vector<IterationFigures> iterations() { return place_->channel().iterations.read(); }

  // Call these after stop().
  const TraceLog& client_trace() const { return client_trace_; }
  const TraceLog& server_trace() const { return server_trace_; }

  // Opens the gate, waits until everything has ended, and ends the thread. The test may look at files afterwards.
  void stop();

  // Returns every failure that no call has reported yet.
  std::vector<Fault> told();

  // Call these after stop().
  std::string path(int64_t iteration) const;  // its final name
  std::optional<std::vector<std::byte>> bytes(const std::string& path) const;
  bool exists(const std::string& path) const { return bytes(path).has_value(); }
  std::unique_ptr<Hdf5File> published(int64_t iteration) const;  // null if it is not published
  const std::vector<FaultEvent>& events() const { return faults_->log(); }

 private:
  const Config config_;
  const bool on_disk_;
  SteadyClock clock_;
  KeptLog log_;
  TraceLog client_trace_{1000};
  TraceLog server_trace_{1000};
  Doorbell doorbell_;
  std::unique_ptr<ThreadPlace> place_;
  std::unique_ptr<Storage> storage_;
  MemoryStorage* memory_ = nullptr;  // storage_, if that is one
  std::unique_ptr<FaultStorage> faults_;
  std::unique_ptr<GatedStorage> gate_;
  Fifo scheduler_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<FilterCrew> crew_;
  NoProcesses processes_;
  std::unique_ptr<LoneServer> server_;
  std::unique_ptr<Client> client_;
};

}  // namespace tailrace::impl
