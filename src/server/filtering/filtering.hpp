// Filtering: the filtered variables of one client: their blocks on the way into files, chunk by chunk, and back.
//
//   block ─ chunk ─► crew ─ filtered ─► its place in the file ─► engine ─► buffer back   (the last: block ended)
//         ─ chunk, left as it is ─────► its place in the file ─► engine
//   read  ─ chunk ─► its place in the file ─► engine ─► crew ─ restored ─► buffer back   (the last: read ended)
//
// What comes first begins first: blocks of a variable never overtake each other, and what does not pass through the
// crew (a read, a chunk that is left as it is) begins when the blocks before it have their places, so that the
// engine's order of requests is the order of the client's verbs. When clients would soon wait for memory, chunks get
// less effort, see effort_for(). The server's thread; never waits.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <unordered_map>
#include <vector>

#include "channel/client_ends.hpp"
#include "engine/engine.hpp"
#include "model/config.hpp"
#include "model/wire/descriptor_wire.hpp"
#include "publish/file_group.hpp"
#include "server/filtering/filter_crew.hpp"

namespace tailrace::impl {

class Filtering final : public FilterJob::Owner, public CompletionSink {
 public:
  using WorkId = uint64_t;

  // The server of the client.
  class Host {
   public:
    virtual ~Host() = default;
    // A block or read has ended: from here on its memory is not used. Never called from within begin().
    virtual void filtered(WorkId work, const Status& status, const Request::Course& course) = 0;
    // It is a read's turn, but its iteration is leaving: the read is the host's again.
    virtual void postponed(WorkId work) = 0;
  };

  // All but `client` are borrowed.
  Filtering(const Config& config, int client, ClientEnds& to_client, Engine& engine, FileGroup& files,
            FilterCrew& crew, Host& host);
  ~Filtering() override;

  // A block in chunks to write (Verb::write, borrow) or to read, and its memory. `work` is the host's number for it,
  // larger each time. Fails if it cannot even begin; then that was all.
  Status begin(WorkId work, const Block& block, const Descriptor& descriptor, std::span<std::byte> memory);
  // The iteration has been dropped: what has not begun of it ends at once.
  void give_up(int64_t iteration);
  // Moves everything on, other clients' chunks, too. Returns whether anything moved.
  bool progress() { return crew_.progress(); }
  bool idle() const { return works_.empty(); }

  // FilterJob::Owner
  bool needs_buffer() const override;
  void granted(std::optional<FilterBuffer> buffer) override;
  bool ready() const override { return engine_.room() > 0; }
  void done(const FilterJob& job) override;
  // CompletionSink
  void ended(const Request& request, const Status& status) override;

 private:
  // A block or a read.
  struct Work {
    Descriptor descriptor;
    Block block;
    std::span<std::byte> memory;
    FilterPlan plan;
    uint64_t begun = 0;      // chunks
    uint64_t filtered = 0;   // block: of these, those that have their place, or need none any more
    uint32_t under_way = 0;  // of these, those that have not ended
    bool held = false;       // its iteration, by it
    bool given_up = false;   // its iteration is dropped: nothing more of it is begun
    Status status;           // of the first chunk that failed
    Request::Course course;  // of all chunks together
    Nanoseconds filtering{0};
    std::vector<PlacedChunk> chunks;  // read, once it has begun
    FileId file = 0;                  // read
    bool own_file = false;            // read: opened for it alone

    bool is_read() const { return descriptor.verb == Verb::read; }
    bool wants_more() const { return !given_up && status.ok() && begun < plan.chunking.count(); }
  };
  // A chunk under way.
  struct Flight {
    WorkId work = 0;
    uint64_t index = 0;
    std::optional<FilterBuffer> buffer;  // none: it is written as it lies in its block
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
  Effort effort_for(const Work& work) const;
  static bool stays_as_it_is(const Work& work, Effort effort);

  // Constant after construction.
  const Config& config_;
  const int client_;
  ClientEnds& to_client_;
  Engine& engine_;
  FileGroup& files_;
  FilterCrew& crew_;
  Host& host_;

  // The server's thread only.
  std::map<WorkId, Work> works_;  // in the order in which they came
  std::deque<WorkId> waiting_;    // those that want more buffers, likewise
  bool asked_ = false;            // the crew, for a turn
  uint64_t held_bytes_ = 0;       // of the pool, in blocks here
  uint64_t next_token_ = 1;
  std::unordered_map<uint64_t, Flight> flights_;  // by the token of their jobs and requests
};

}  // namespace tailrace::impl
