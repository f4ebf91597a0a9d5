// Filtering: carries the blocks of one client's filtered variables into files, chunk by chunk, and back.
//
//   block ─ chunk ─► crew ─ filtered ─► its place in the file ─► engine ─► buffer back   (the last: block ended)
//         ─ chunk, left as it is ─────► its place in the file ─► engine
//   read  ─ chunk ─► its place in the file ─► engine ─► crew ─ restored ─► buffer back   (the last: read ended)
//
// Works begin in the order in which they come: blocks of a variable never overtake each other. A read, or a chunk
// that is left as it is, does not pass through the crew; it begins when the blocks before it have their places. So
// the engine gets requests in the order of the client's verbs. When clients would soon wait for memory, chunks get
// less effort; see effort_for(). Runs on the server's thread; never waits.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "channel/client_ends.hpp"
#include "engine/engine.hpp"
#include "model/declarations.hpp"
#include "model/wire/descriptor_wire.hpp"
#include "publish/file_group.hpp"
#include "server/filtering/filter_crew.hpp"

namespace tailrace::impl {

class Filtering final : public FilterJob::Owner, public CompletionSink {
 public:
  using WorkId = uint64_t;

  // The client's server.
  class Host {
   public:
    virtual ~Host() = default;
    // Reports that a block or read has ended: its memory is not used any more. begin() never calls it.
    virtual void filtered(WorkId work, const Status& status, const Request::Course& course) = 0;
    // Hands a read back to the host at its turn, since its iteration is leaving.
    virtual void postponed(WorkId work) = 0;
  };

  // Borrows all but `client`. `holds_writes`: see Config.
  Filtering(const Declarations& declared, bool holds_writes, int client, ClientEnds& to_client, Engine& engine,
            FileGroup& files, FilterCrew& crew, Host& host);
  ~Filtering() override;

  // Begins to write a block (Verb::write, borrow) or to read one, in chunks, with its memory. `work` is the host's
  // number for it, larger each time. If it fails, nothing more happens for this work.
  Status begin(WorkId work, const Block& block, const Descriptor& descriptor, std::span<std::byte> memory);
  // Notes that the iteration was dropped: ends at once all its chunks that have not begun.
  void give_up(int64_t iteration);
  // Makes progress with everything, other clients' chunks included. Returns true if anything moved.
  bool progress() { return crew_.progress(); }
  bool idle() const { return works_.empty(); }

  // Implements FilterJob::Owner.
  bool needs_buffer() const override;
  void granted(std::optional<FilterBuffer> buffer) override;
  // Leaves room for requests by which a publication that fails cleans up.
  bool ready() const override { return engine_.room() >= FileGroup::kRequestsAtOnce; }
  void done(const FilterJob& job) override;
  // Implements CompletionSink.
  void ended(const Request& request, const Status& status) override;

 private:
  // A block or a read.
  struct Work {
    Descriptor descriptor;
    Block block;
    std::span<std::byte> memory;
    FilterPlan plan;
    uint64_t begun = 0;      // chunks that have begun
    uint64_t filtered = 0;   // of these, chunks of a block that have their place, or no longer need one
    uint32_t under_way = 0;  // of these, chunks that have not ended
    bool held = false;       // this work holds its iteration
    bool given_up = false;   // the iteration was dropped: no further chunk begins
    Status status;           // of the first chunk that failed
    Request::Course course;  // of all chunks together
    Nanoseconds filtering{0};
    std::vector<PlacedChunk> chunks;  // for a read, once it has begun
    FileId file = 0;                  // for a read
    bool own_file = false;            // for a read: `file` was opened for it alone

    bool is_read() const { return descriptor.verb == Verb::read; }
    bool wants_more() const { return !given_up && status.ok() && begun < plan.chunking.count(); }
  };
  // A chunk under way.
  struct Flight {
    WorkId work = 0;
    uint64_t index = 0;
    std::optional<FilterBuffer> buffer;  // none: the chunk is written from its block
  };

  void wish();
  bool must_wait(WorkId id, const Work& work, Effort effort) const;
  bool take_up(WorkId id, Work& work);
  Status locate(Work& work);
  void next_chunk(WorkId id, Work& work, Effort effort, std::optional<FilterBuffer> buffer);
  FilterJob job_of(uint64_t token);
  std::byte* memory_of(const Flight& flight) const;
  Status place(const Work& work, const FilterJob& job);
  void count(Work& work, const FilterJob& job);
  void submit(Operation operation, FileId file, Extent extent, uint64_t token);
  void release(uint64_t token);
  Status end_of_read(const Work& work);
  void end_if_done(WorkId id);
  static bool follows(const Work& later, const Work& earlier);
  bool follows_another(WorkId id, const Work& work) const;
  Effort effort_for(const Work& work) const;
  static bool stays_as_it_is(const Work& work, Effort effort);

  // Constant after construction.
  const Declarations& declared_;
  const bool holds_writes_;
  const int client_;
  ClientEnds& to_client_;
  Engine& engine_;
  FileGroup& files_;
  FilterCrew& crew_;
  Host& host_;

  // Used by the server's thread only.
  std::map<WorkId, Work> works_;  // in the order in which they came
  std::deque<WorkId> waiting_;    // works that want more buffers, in the same order
  bool asked_ = false;            // the crew for a turn
  uint64_t held_bytes_ = 0;       // bytes of the pool in blocks that are here
  uint64_t next_token_ = 1;
  std::unordered_map<uint64_t, Flight> flights_;  // by the token of their job or request
};

}  // namespace tailrace::impl
