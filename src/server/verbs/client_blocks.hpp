// ClientBlocks: carries the blocks of one client into files, and those that it reads back. Turns the verbs into
// requests of the engine, at the places that the files' group gives, and ends the verbs.
//
// Filtered blocks go through Filtering. Runs on the server's thread; never waits.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "channel/client_ends.hpp"
#include "engine/engine.hpp"
#include "format/format.hpp"
#include "model/declarations.hpp"
#include "model/trace.hpp"
#include "publish/file_group.hpp"
#include "server/filtering/filtering.hpp"
#include "server/verbs/action_port.hpp"
#include "server/verbs/client_layouts.hpp"
#include "server/verbs/iteration_meter.hpp"
#include "server/verbs/verb_ends.hpp"

namespace tailrace::impl {

class ClientBlocks final : public CompletionSink, private Filtering::Host {
 public:
  // The parts of the client's server that this uses.
  struct Parts {
    ClientEnds& to_client;
    Engine& engine;
    FileGroup& files;
    const ClientLayouts& layouts;
    VerbEnds& ends;
    IterationMeter& meter;
    TraceLog& trace;
    FilterCrew* crew = nullptr;  // may be null if nothing is filtered
  };

  // Borrows all but `client`. `holds_writes`: see Config.
  ClientBlocks(const Declarations& declared, bool holds_writes, int client, const Parts& parts);

  // Begin Verb::write and Verb::borrow; Verb::read.
  void begin_write(const Descriptor& descriptor);
  void begin_read(const Descriptor& descriptor);
  // Notes that the iteration has left, perhaps without this client: continues the reads that waited for it.
  void left(int64_t iteration);
  // Notes that the iteration is dropped: its chunks need not be filtered any more.
  void give_up(int64_t iteration);
  // Moves filtering on. Returns true if anything moved.
  bool progress() { return filtering_ && filtering_->progress(); }

  // Makes actions see the blocks. Call it before any verb is accepted.
  void serve_actions(ActionPort& actions) { actions_ = &actions; }

  // Accepts a Verb::write of an earlier server, and notes its layout. Returns true if the verb has ended, and was
  // only noted.
  bool accept_again(const Descriptor& descriptor);
  // Restores a chunk that an earlier server placed. The block has the layout with which it was accepted.
  void place_again(Block block, const FileGroup::Chunk& chunk);
  void end_again() { layouts_again_.clear(); }
  // Returns true if the bytes of a block of the pool are in its file, or their write has failed.
  bool has_ended(const Descriptor& descriptor) const;

  bool idle() const { return works_.empty(); }
  uint64_t pending_bytes() const { return pending_bytes_; }
  bool is_reading() const { return reads_ > 0; }

  void ended(const Request& request, const Status& status) override;

 private:
  using WorkId = Filtering::WorkId;
  enum class Kind { block, read };

  // A verb under way: what to do when its request has ended.
  struct Work {
    Kind kind = Kind::block;
    Descriptor descriptor;
    Block block;
    Request::Course course;
    Status status;
    bool refused = false;  // for a block: it came too late, and does not belong to its iteration
    FileId file = 0;       // for a read: opened for this work alone, and closed at its end; else 0
  };
  // A read that waits until its iteration has left.
  struct Deferred {
    Descriptor descriptor;
    Block block;
  };

  void filtered(WorkId work, const Status& status, const Request::Course& course) override;
  void postponed(WorkId work) override;

  bool in_chunks(const Block& of) const { return is_in_chunks(declared_.variables[of.variable], *of.layout); }
  std::byte* memory_of(const Descriptor& descriptor) const;
  void read_block(const Descriptor& descriptor, const Block& block);
  void begin_filtered(WorkId id);
  Result<FileId> file_to_read(Work& work, std::vector<Extent>& extents);
  WorkId new_work(Kind kind, const Descriptor& descriptor, const Block& block);
  void submit(WorkId id, Request request);
  void end_work(WorkId id);
  void end_block(const Work& work);
  void count_block(const Work& work);
  void measure_block(const Work& work);
  void return_block(const Descriptor& descriptor);
  void forget_if_failed(const Block& block);

  // Constant after construction.
  const Declarations& declared_;
  const bool holds_writes_;
  const int client_;
  const Parts parts_;
  ActionPort* actions_ = nullptr;
  std::unique_ptr<Filtering> filtering_;  // null: nothing is filtered

  // Used by the server's thread only.
  WorkId next_work_ = 1;
  std::unordered_map<WorkId, Work> works_;
  std::map<int64_t, std::vector<Deferred>> deferred_;  // by iteration
  // Layouts of blocks that are accepted again, by variable and iteration.
  std::map<std::pair<uint32_t, int64_t>, std::shared_ptr<const Layout>> layouts_again_;
  uint64_t pending_bytes_ = 0;  // bytes of the pool in writes that have not ended
  uint32_t reads_ = 0;          // reads that have not ended
};

}  // namespace tailrace::impl
