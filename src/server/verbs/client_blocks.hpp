// ClientBlocks: the blocks of one client on their way into files, and those that it reads. Turns the verbs into
// requests of the engine, by the places that the files' group gives, and ends them.
//
// Filtered blocks go by way of Filtering. The server's thread; never waits.
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
#include "model/config.hpp"
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
  // The parts of the client's server that it works with.
  struct Parts {
    ClientEnds& to_client;
    Engine& engine;
    FileGroup& files;
    const ClientLayouts& layouts;
    VerbEnds& ends;
    IterationMeter& meter;
    TraceLog& trace;
    FilterCrew* crew = nullptr;  // may be none if nothing is filtered
  };

  // All but `client` are borrowed.
  ClientBlocks(const Config& config, int client, const Parts& parts);

  // Verb::write and Verb::borrow; Verb::read.
  void begin_write(const Descriptor& descriptor);
  void begin_read(const Descriptor& descriptor);
  // The iteration has left, perhaps without this client: reads that waited for that go on.
  void left(int64_t iteration);
  // The iteration is dropped: nothing more of it need be filtered.
  void give_up(int64_t iteration);
  // Moves filtering on. Returns true if something moved.
  bool progress() { return filtering_ && filtering_->progress(); }

  // Where there are actions: before anything is accepted.
  void serve_actions(ActionPort& actions) { actions_ = &actions; }

  // A Verb::write of an earlier server, whose layout is noted. Returns true if it has ended, and was only noted.
  bool accept_again(const Descriptor& descriptor);
  // A chunk that an earlier server placed. The block has the layout that it was accepted with.
  void place_again(Block block, const FileGroup::Chunk& chunk);
  void end_again() { layouts_again_.clear(); }
  // Returns true if the bytes of a block of the pool are in its file, or have failed to get there.
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
    bool refused = false;  // block: it came too late, and is none of its iteration's
    FileId file = 0;       // read: opened for this work alone, closed at its end; else 0
  };
  // A read that waits until its iteration has left.
  struct Deferred {
    Descriptor descriptor;
    Block block;
  };

  void filtered(WorkId work, const Status& status, const Request::Course& course) override;
  void postponed(WorkId work) override;

  bool in_chunks(const Block& of) const { return is_in_chunks(config_.variables[of.variable], *of.layout); }
  std::byte* memory_of(const Descriptor& descriptor) const;
  void read_block(const Descriptor& descriptor, const Block& block);
  void begin_filtered(WorkId id);
  Status allocate(const FileGroup::Place& place);
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
  const Config& config_;
  const int client_;
  const Parts parts_;
  ActionPort* actions_ = nullptr;
  std::unique_ptr<Filtering> filtering_;  // none: nothing is filtered

  // The server's thread only.
  WorkId next_work_ = 1;
  std::unordered_map<WorkId, Work> works_;
  std::map<int64_t, std::vector<Deferred>> deferred_;  // by iteration
  // Layouts of blocks that are accepted again: by variable and iteration.
  std::map<std::pair<uint32_t, int64_t>, std::shared_ptr<const Layout>> layouts_again_;
  uint64_t pending_bytes_ = 0;  // of the pool, in writes that have not ended
  uint32_t reads_ = 0;          // that have not ended
};

}  // namespace tailrace::impl
