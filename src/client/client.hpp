// Client: the verbs, as the application's thread runs them. Checks, finds memory, copies, sends, waits.
//
// The half of a session that is on the critical path: no I/O, no lock, no allocation, no system call but to wake a
// sleeping server or to sleep where the verb says that it waits. Knows a place only by its port. One thread at a
// time.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/histogram.hpp"
#include "base/log.hpp"
#include "base/memory/pool.hpp"
#include "client/client_files.hpp"
#include "client/open_iterations.hpp"
#include "model/config.hpp"
#include "model/shapes.hpp"
#include "model/trace.hpp"
#include "place/place.hpp"

namespace tailrace::impl {

// Counters that the client's own thread keeps; see tailrace_stats for their meaning.
struct ClientCounters {
  uint64_t blocks_accepted = 0;
  uint64_t blocks_dropped = 0;
  uint64_t blocks_written_through = 0;
  uint64_t bytes_accepted = 0;
  uint64_t iterations_ended = 0;
  uint64_t iterations_dropped = 0;
  uint64_t iterations_peak = 0;  // unfinished at once
  uint64_t signals = 0;
  Nanoseconds copying{0};
  Nanoseconds waiting_memory{0};
  Nanoseconds waiting_ticket{0};
};

// Counters of one variable.
struct ClientVariableCounters {
  uint64_t blocks_accepted = 0;
  uint64_t blocks_refused = 0;  // by `when_full: drop`
  uint64_t blocks_written_through = 0;
  uint64_t bytes_accepted = 0;
  Histogram handover;  // of a block: in write, in alloc and commit, or in borrow
  Histogram waiting;   // in wait for one of its tickets that had not ended, and in read
};

class Client final : private ClientFiles::Host {
 public:
  // All are borrowed for the life of the client.
  Client(const Config& config, Place& place, const Clock& clock, Log& log, TraceLog& trace);

  // The verbs of tailrace.h. Each returns its own status; failures of earlier requests are taken with earlier().
  Status write(std::string_view variable, int64_t iteration, const void* data);
  Result<void*> alloc(std::string_view variable, int64_t iteration);
  // Has the caller keep the block that alloc() gave, beyond commit and the end of this client.
  Result<std::unique_ptr<Hold>> keep(std::string_view variable, int64_t iteration);
  Status commit(std::string_view variable, int64_t iteration);
  Result<uint64_t> borrow(std::string_view variable, int64_t iteration, const void* data);
  Status end_iteration(int64_t iteration);
  Status signal(std::string_view event, int64_t iteration);
  Status wait(uint64_t ticket, std::optional<std::chrono::milliseconds> timeout);
  Status flush();
  // Returns a ticket that ends when everything sent before has.
  Result<uint64_t> iflush();
  Status read(std::string_view variable, int64_t iteration, void* data);
  // Gives parameters new values, together: the layouts that name them follow. Allocates.
  Status set_parameters(std::span<const std::pair<std::string_view, int64_t>> values);
  // Switches a variable on or off. Of one that is off, blocks are accepted and not written.
  Status enable(std::string_view variable, bool on);
  // The verbs about raw files.
  ClientFiles& files() { return files_; }
  const ClientFiles& files() const { return files_; }
  // Waits until everything has ended; iterations that were not ended become failures. The last verb.
  void finish();

  Result<uint32_t> find(std::string_view variable) const;
  // At present.
  const Layout& layout_of(uint32_t variable) const { return *shapes_.of(variable); }
  // The oldest failure of an earlier request that has not been told, if there is one.
  std::optional<Status> earlier();

  uint64_t unseen_failures() const;
  const ClientCounters& counters() const { return counters_; }
  const ClientVariableCounters& counters(uint32_t variable) const { return variables_[variable]; }
  PoolOwner& pool() { return pool_; }

 private:
  using Iteration = OpenIterations::Iteration;
  using What = TraceEvent::What;

  Result<std::vector<Shapes::Setting>> find_parameters(
      std::span<const std::pair<std::string_view, int64_t>> values) const;
  Status check_uncommitted(const Shapes::State& state);
  Status send_settings(const std::vector<Shapes::Setting>& settings);
  // The iteration of a verb, begun if need be, now or after a wait; TAILRACE_DROPPED if the policy gives it up now.
  // It may have been given up before.
  Result<Iteration*> begin(int64_t iteration);
  // Room for one more iteration, by the policy; TAILRACE_DROPPED if it shall be given up.
  Status room_for_iteration(int64_t iteration);
  // Opens the iteration for a block; TAILRACE_DROPPED if it has been given up.
  Result<Iteration*> open(int64_t iteration);
  // A block of the pool, now or after a wait. TAILRACE_TOO_LARGE if there can never be one, TAILRACE_DROPPED if the
  // policy gave the iteration up. No block if `may_pass` and the policy is to write through.
  Result<std::optional<PoolBlock>> take_memory(uint64_t bytes, Iteration& iteration, bool may_pass);
  std::optional<PoolBlock> allocate(uint64_t bytes);
  Result<std::optional<PoolBlock>> memory_for(uint64_t bytes);
  Result<std::optional<PoolBlock>> wait_for_memory(uint64_t bytes);
  void tell_hunger();
  Status drop(Iteration& iteration, uint64_t unfinished);
  Status too_large(uint64_t bytes) const;
  Status write_through(uint32_t variable, Iteration& iteration, const void* data, Nanoseconds handed);
  Nanoseconds copy_in(PoolBlock block, const void* data, uint64_t bytes, Nanoseconds start);
  Status send_block(uint32_t variable, Iteration& iteration, PoolBlock block, Nanoseconds handed, uint64_t ticket);
  Result<uint64_t> send_borrowed(uint32_t variable, Iteration& iteration, const void* data, Nanoseconds handed);
  Result<uint64_t> send_copied(uint32_t variable, Iteration& iteration, const void* data, Nanoseconds start);
  Result<uint64_t> send_read(uint32_t variable, int64_t iteration, const Descriptor::Bytes& bytes);
  Result<uint64_t> read_directly(uint32_t variable, int64_t iteration, void* data, Nanoseconds start);
  Result<uint64_t> read_by_pool(uint32_t variable, int64_t iteration, void* data, Nanoseconds start);
  Status send(Descriptor descriptor);
  void reclaim();
  Result<uint64_t> open_ticket(uint32_t variable);
  Result<uint64_t> send_flush(Verb verb);
  Status flush_all(What what);
  Status wait_for_room(FunctionRef<bool()> ready);
  Status wait_for(uint64_t ticket, std::optional<std::chrono::milliseconds> timeout);
  void count_accepted(uint32_t variable, Iteration& iteration);
  void count_dropped(uint32_t variable, const Status& why);
  void end_handover(What what, uint32_t variable, int64_t iteration, Nanoseconds start, Nanoseconds before);
  void note(What what, uint32_t variable, int64_t iteration, Nanoseconds start, Nanoseconds end);
  Status end_of(uint64_t ticket);
  // ClientFiles::Host
  Result<PoolBlock> file_block(uint64_t bytes) override;
  bool file_server_reaches_client() const override { return place_.reaches_client(); }
  std::optional<PoolBlock> file_block_at_once(uint64_t bytes) override { return allocate(bytes); }
  void free_file_block(PoolBlock block) override { pool_.free(block); }
  void keep_file_block(uint64_t bytes, bool keep) override;
  Result<uint64_t> send_file_verb(const Descriptor& verb) override;
  Result<uint64_t> file_ticket() override;
  bool is_file_verb_pending(uint32_t block, uint64_t sequence) const override;
  Status ask_file_verb(Descriptor verb, bool& in_use) override;
  Status await_file_verb(uint64_t ticket) override;
  void outwait_file_verb(uint64_t ticket) override;
  bool is_file_ticket_pending(uint64_t ticket) const override;
  Status wait_counted(uint64_t ticket);
  std::span<std::byte> file_memory() const override { return channel_.memory; }
  Nanoseconds file_clock() const override { return clock_.now(); }
  void count_file_copy(Nanoseconds time) override { counters_.copying += time; }
  void note_file(What what, uint32_t file, uint64_t bytes, Nanoseconds start) override;
  uint64_t bytes_of(uint32_t variable) const;
  Status about(Status status, const char* verb, std::string_view variable, int64_t iteration) const;

  // Constant after construction.
  const Config& config_;
  Place& place_;
  Channel& channel_;
  const Clock& clock_;
  Log& log_;
  TraceLog& trace_;

  // The client's thread only.
  PoolOwner pool_;
  OpenIterations iterations_;
  Shapes shapes_;
  std::vector<bool> enabled_;  // by variable
  uint64_t uncommitted_ = 0;   // bytes of the pool that the application holds, and the paths of its open files
  uint64_t sequence_ = 0;
  bool warned_of_waiting_ = false;     // for memory
  bool warned_of_iterations_ = false;  // … and for iterations to leave
  uint32_t losses_ = 0;                // of the place, as of the last look
  std::vector<uint64_t> sent_;         // by block of the pool: the verb that it went away with, or 0
  ClientCounters counters_;
  Nanoseconds waited_before_{0};                   // for memory, when the latest iteration ended
  std::vector<ClientVariableCounters> variables_;  // by variable
  std::vector<uint32_t> ticket_variable_;          // by slot of the ticket table: what the latest ticket there is of
  ClientFiles files_;
};

}  // namespace tailrace::impl
