// Server: the other half of a session. Turns one client's descriptors into requests of the engine, by the format, and
// tells the client how each ended.
//
// Runs wherever the place runs it, on one thread; never waits. The client's files, from begin to publication, are its
// group's, which it may share with others' servers. Knows the format, place and storage by their ports only.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "channel/client_ends.hpp"
#include "engine/engine.hpp"
#include "format/format.hpp"
#include "model/config.hpp"
#include "model/shapes.hpp"
#include "model/trace.hpp"
#include "place/place.hpp"
#include "publish/file_group.hpp"
#include "server/action_port.hpp"
#include "server/filtering/filtering.hpp"
#include "server/iteration_meter.hpp"
#include "server/raw_files/file_meter.hpp"
#include "server/raw_files/raw_files.hpp"
#include "server/unfinished.hpp"

namespace tailrace::impl {

class Server final : public RequestSink,
                     public CompletionSink,
                     private GroupMember,
                     private Filtering::Host,
                     private RawFiles::Host {
 public:
  // All but `client` are borrowed for the life of the server. `crew`: needed if there are filtered variables.
  Server(const Config& config, int client, ClientEnds& to_client, Engine& engine, FileGroup& files, TraceLog& trace,
         FilterCrew* crew = nullptr);
  // Everything has ended.
  ~Server() override;

  bool ready() const override;
  void accept(const Descriptor& descriptor) override;
  // For a server that has the engine for itself. Several clients' servers share one: whoever drives that calls the
  // parts of this, the engine's once for all of them.
  void progress() override;
  void hurry_if_waited_for();
  // Begins what had to wait for room in the engine. Returns whether it did.
  bool begin_more();
  // Tells the client what has come of all that; `counts` are the engine's.
  void report(const Engine::Counts& counts);
  // True when everything accepted has ended.
  bool idle() const override { return works_.empty() && ends_.empty() && (!raw_ || raw_->idle()) && engine_.idle(); }

  // Accepts a verb that an earlier server accepted, in the same order. If it has ended, it is only noted. The
  // iterations are held (FileGroup) until all verbs are accepted: an end may stand before the blocks that belong to
  // it.
  void accept_again(const Descriptor& descriptor);
  // A chunk that an earlier server placed, as its Witness was told, in the order of these calls. The block
  // has the layout that it was accepted with.
  void place_again(Block block, uint64_t index, const FilteredChunk& chunk, const Loss& loss);
  // Ends the verbs and chunks of the earlier server.
  void end_again();
  // Returns true if the bytes of a block of the pool are in its file, or have failed to get there.
  bool has_ended(const Descriptor& descriptor) const;
  // The client's layouts, after all that was accepted.
  const Shapes& shapes() const { return shapes_; }
  // Returns ok if a setting of a parameter (Verb::parameter) fits those before it, and makes valid layouts.
  Status check_setting(const Descriptor& descriptor) const;
  // Returns true if nothing of this client is under way.
  bool settled() const { return works_.empty() && unfinished_.empty() && flushes_.empty(); }
  // The client has gone; nothing more is accepted. Once.
  void leave();

  // Where clients may open raw files: before anything is accepted. Borrowed for the life of the server.
  void serve_files(SharedFiles& files);
  // Returns ok if a verb about a raw file makes sense; see RawFiles.
  Status check_file(const Descriptor& descriptor) { return raw_->check(descriptor); }

  // Where there are actions: before anything is accepted. Borrowed for the life of the server.
  void serve_actions(ActionPort& actions) { actions_ = &actions; }
  // Ends what ActionPort::keeps() began: the client may use the block again.
  void give_back(uint32_t block, uint64_t sequence);
  // Returns true if the client waits for memory although it has seen all that was given back, and nothing is being
  // written.
  bool hungry() const;
  // Returns true if the client waits for an end, or soon would: for a flush, a read, or memory. Nothing of it may be
  // held back.
  bool pressed() const;
  // The iteration has left: the client may begin another one.
  void give_room(int64_t iteration);
  // Tells the client of a failure that is none of its verbs'.
  void tell(const Status& failure) override;
  // Returns true if the client closes, and waits for the end of that.
  bool is_closing() const { return !flushes_.empty() && flushes_.back().verb == Verb::close; }
  FileGroup& files() { return files_; }

  void ended(const Request& request, const Status& status) override;

 private:
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

  using WorkId = Filtering::WorkId;

  void begin(const Descriptor& descriptor);
  void measure_verb(const Descriptor& descriptor);
  void begin_block(const Descriptor& descriptor);
  void begin_read(const Descriptor& descriptor, const Block& block);
  void set_parameter(const Descriptor& descriptor);
  void end_iteration(const Descriptor& descriptor);
  void drop_iteration(const Descriptor& descriptor);
  void accept_file_again(const Descriptor& descriptor);
  void end_twice(const Descriptor& descriptor);
  void note_event(const Descriptor& descriptor);
  void left(int64_t iteration, const Departure& how) override;
  void gone(int64_t iteration) override;
  void filtered(WorkId work, const Status& status, const Request::Course& course) override;
  void postponed(WorkId work) override;
  void file_verb_ended(const Descriptor& descriptor, const Status& status) override;
  void file_write_went(const Descriptor& descriptor, const Request& request, const Status& status) override;

  bool in_chunks(const Block& of) const { return is_in_chunks(config_.variables[of.variable], *of.layout); }
  std::byte* memory_of(const Descriptor& descriptor) const;
  void begin_filtered(WorkId id);
  Status allocate(const FileGroup::Place& place);
  Result<FileId> file_to_read(Work& work, std::vector<Extent>& extents);
  WorkId new_work(Kind kind, const Descriptor& descriptor, const Block& block);
  void submit(WorkId id, Request request);
  void end_work(WorkId id);
  void end_block(const Work& work);
  void measure_block(const Work& work);
  void copy_counts(const Engine::Counts& counts);
  bool is_waited_for() const;
  bool is_short_of_memory() const;
  bool is_short_of_iterations() const;
  void end_verb(const Descriptor& descriptor, const Status& status);
  void begin_deferred(int64_t iteration);
  void return_block(const Descriptor& descriptor);
  int client() const override { return static_cast<int>(client_); }
  void give_back_forgotten();
  void forget_if_failed(const Block& block);
  void answer_flushes();
  bool is_publishing() const;
  Block block_of(const Descriptor& descriptor) const;
  Status about(const Status& status, const Descriptor& descriptor) const;

  // Constant after construction.
  const Config& config_;
  const uint32_t client_;
  ClientEnds& to_client_;
  Engine& engine_;
  FileGroup& files_;
  Format& format_;
  TraceLog& trace_;
  ActionPort* actions_ = nullptr;
  FilterCrew* const crew_;                // may be none if nothing is filtered
  std::unique_ptr<Filtering> filtering_;  // none: nothing is filtered
  std::unique_ptr<RawFiles> raw_;         // none: no raw files are opened

  // The server's thread only.
  WorkId next_work_ = 1;
  std::unordered_map<WorkId, Work> works_;
  std::map<int64_t, Descriptor> ends_;                 // of iterations that have not left: how they were ended
  std::map<int64_t, std::vector<Deferred>> deferred_;  // by iteration
  Unfinished unfinished_;
  std::deque<Descriptor> flushes_;  // waiting for all before them
  Shapes shapes_;
  std::vector<Shapes::Setting> settings_;  // that wait for the last of those that take effect with them
  // Layouts of blocks that are accepted again: by variable and iteration.
  std::map<std::pair<uint32_t, int64_t>, std::shared_ptr<const Layout>> layouts_again_;
  IterationMeter meter_;
  FileMeter file_meter_;
  uint64_t pending_bytes_ = 0;  // of the pool, in writes that have not ended
  uint32_t reads_ = 0;          // that have not ended
  bool has_left_ = false;
};

}  // namespace tailrace::impl
