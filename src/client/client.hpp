// Client: the verbs, as the application's thread runs them. Checks, finds memory, copies, sends, waits.
//
// This is the half of a session that is on the critical path: no I/O, no lock, no allocation, and no system call but
// to wake a sleeping server or to sleep where the verb waits. Knows a place only by its port. One thread at a time.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/memory/pool.hpp"
#include "base/names/name_index.hpp"
#include "client/admission.hpp"
#include "client/block_transfer.hpp"
#include "client/client_files.hpp"
#include "client/client_memory.hpp"
#include "client/client_meter.hpp"
#include "client/open_iterations.hpp"
#include "client/server_link.hpp"
#include "model/config/config.hpp"
#include "model/shapes.hpp"
#include "model/trace.hpp"
#include "place/place.hpp"

namespace tailrace::impl {

class Client {
 public:
  // Borrows all its arguments for the life of the client.
  Client(const Config& config, Place& place, const Clock& clock, Log& log, TraceLog& trace);
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  // The verbs of tailrace.h. Each returns its own status; earlier() returns the failures of earlier requests.
  Status write(std::string_view variable, int64_t iteration, const void* data);
  Result<void*> alloc(std::string_view variable, int64_t iteration);
  // Lets the caller keep the block that alloc() gave, beyond commit and the end of this client.
  Result<std::unique_ptr<Hold>> keep(std::string_view variable, int64_t iteration);
  Status commit(std::string_view variable, int64_t iteration);
  Result<uint64_t> borrow(std::string_view variable, int64_t iteration, const void* data);
  // `time`, `dt`: of the iteration; none: as the configuration says.
  Status end_iteration(int64_t iteration, std::optional<double> time = {}, std::optional<double> dt = {});
  // Sets an attribute of the iteration; or, with a variable, of its dataset in the iteration.
  Status attribute(std::optional<std::string_view> variable, int64_t iteration, std::string_view name,
                   const AttributeValue& value);
  Status signal(std::string_view event, int64_t iteration);
  Status wait(uint64_t ticket, std::optional<std::chrono::milliseconds> timeout);
  Status flush();
  // Returns a ticket that ends when everything sent before has.
  Result<uint64_t> iflush();
  Status read(std::string_view variable, int64_t iteration, void* data);
  // Sets parameters, all at once: the layouts that name them change with them. Allocates.
  Status set_parameters(std::span<const std::pair<std::string_view, Number>> values);
  // Switches a variable on or off. Blocks of a variable that is off are accepted and not written.
  Status enable(std::string_view variable, bool on);
  // The verbs about raw files.
  ClientFiles& files() { return files_; }
  const ClientFiles& files() const { return files_; }
  // Waits until everything has ended; iterations that were not ended become failures. It is the last verb.
  void finish();

  Result<uint32_t> find(std::string_view variable) const;
  // Returns the variable's present layout.
  const Layout& layout_of(uint32_t variable) const { return *shapes_.of(variable); }
  // Returns the oldest failure of an earlier request that has not been returned yet, if there is one.
  std::optional<Status> earlier();

  uint64_t unseen_failures() const;
  const ClientCounters& counters() const { return meter_.counters(); }
  const ClientVariableCounters& counters(uint32_t variable) const { return meter_.counters(variable); }
  PoolOwner& pool() { return memory_.pool(); }

 private:
  using Iteration = OpenIterations::Iteration;
  using What = TraceEvent::What;

  Status refuse(const Status& why, const char* verb, uint32_t variable, int64_t iteration);
  Status send_times(int64_t iteration, std::optional<double> time, std::optional<double> dt);
  Status send_attribute(uint32_t variable, int64_t iteration, std::string_view name, const AttributeValue& value);
  Result<Iteration*> find_to_end(int64_t iteration);
  Status flush_all(What what);
  Result<std::vector<Shapes::Setting>> find_parameters(
      std::span<const std::pair<std::string_view, Number>> values) const;
  Status check_uncommitted(const Shapes::State& state);
  Status send_settings(const std::vector<Shapes::Setting>& settings);

  // Constant after construction.
  const Config& config_;
  const NameIndex index_;  // of the variables
  // The latest variable that find() has found. Any thread.
  mutable std::atomic<uint32_t> last_found_{0};

  // Used by the client's thread only.
  FailureLog& failures_;
  Shapes shapes_;
  std::vector<bool> enabled_;  // by variable
  OpenIterations iterations_;
  Nanoseconds waited_before_{0};  // time spent waiting for room until the latest iteration ended
  ClientMeter meter_;
  ServerLink link_;
  ClientMemory memory_;
  Admission admission_;
  BlockTransfer blocks_;
  ClientFiles files_;
};

}  // namespace tailrace::impl
