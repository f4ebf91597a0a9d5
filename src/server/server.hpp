// Server: the other half of a session. Takes one client's verbs, hands each to the part that carries it out (blocks,
// raw files, the group's files), and tells the client how it ended.
//
// More than 35 functions: it is asked by the place that serves its client, by whoever serves several (ServedClients),
// by a server that takes up what an earlier one left, and by actions; and answers its parts.
//
// Runs wherever the place runs it, on one thread; never waits. The client's files, from begin to publication, are its
// group's, which it may share with others' servers. Knows the format, place and storage by their ports only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "channel/client_ends.hpp"
#include "engine/engine.hpp"
#include "model/config.hpp"
#include "model/trace.hpp"
#include "place/place.hpp"
#include "publish/file_group.hpp"
#include "server/raw_files/file_meter.hpp"
#include "server/raw_files/raw_files.hpp"
#include "server/verbs/action_port.hpp"
#include "server/verbs/client_blocks.hpp"
#include "server/verbs/client_layouts.hpp"
#include "server/verbs/iteration_meter.hpp"
#include "server/verbs/verb_ends.hpp"

namespace tailrace::impl {

class Server final : public RequestSink, private GroupMember, private RawFiles::Host {
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
  std::optional<Nanoseconds> due_in() const override;
  // True when everything accepted has ended.
  bool idle() const override { return blocks_.idle() && ends_.empty() && (!raw_ || raw_->idle()) && engine_.idle(); }

  // Accepts a verb that an earlier server accepted, in the same order. If it has ended, it is only noted. The
  // iterations are held (FileGroup) until all verbs are accepted: an end may stand before the blocks that belong to
  // it.
  void accept_again(const Descriptor& descriptor);
  // A chunk that an earlier server placed, as its Witness was told, in the order of these calls. The block
  // has the layout that it was accepted with.
  void place_again(const Block& block, const FileGroup::Chunk& chunk) { blocks_.place_again(block, chunk); }
  // Ends the verbs and chunks of the earlier server.
  void end_again();
  // Returns true if the bytes of a block of the pool are in its file, or have failed to get there.
  bool has_ended(const Descriptor& descriptor) const { return blocks_.has_ended(descriptor); }
  // The client's layouts, after all that was accepted.
  const Shapes& shapes() const { return layouts_.shapes(); }
  // Returns ok if a setting of a parameter (Verb::parameter) fits those before it, and makes valid layouts.
  Status check_setting(const Descriptor& descriptor) const { return layouts_.check(descriptor); }
  // Returns true if nothing of this client is under way.
  bool settled() const { return blocks_.idle() && verbs_.settled(); }
  // The client has gone; nothing more is accepted. Once.
  void leave();

  // Where clients may open raw files: before anything is accepted. Borrowed for the life of the server.
  void serve_files(SharedFiles& files);
  // Returns ok if a verb about a raw file makes sense; see RawFiles.
  Status check_file(const Descriptor& descriptor) { return raw_->check(descriptor); }

  // Where there are actions: before anything is accepted. Borrowed for the life of the server.
  void serve_actions(ActionPort& actions) {
    actions_ = &actions;
    blocks_.serve_actions(actions);
  }
  // Ends what ActionPort::keeps() began: the client may use the block again.
  void give_back(uint32_t block, uint64_t sequence);
  // Returns true if the client waits for memory although it has seen all that was given back, and nothing is being
  // written.
  bool hungry() const;
  // Returns true if the client waits for an end, or soon would: for a flush, a read, or memory. Nothing of it may be
  // held back.
  bool pressed() const;
  // Returns true if the client waits for something, or soon would: writing is not held back for its computing.
  bool wants_speed() const;
  // The iteration has left: the client may begin another one.
  void give_room(int64_t iteration);
  // Tells the client of a failure that is none of its verbs'.
  void tell(const Status& failure) override { verbs_.tell(failure); }
  // Returns true if the client closes, and waits for the end of that.
  bool is_closing() const { return verbs_.is_closing(); }
  FileGroup& files() { return files_; }

 private:
  void begin(const Descriptor& descriptor);
  void measure_verb(const Descriptor& descriptor);
  void end_iteration(const Descriptor& descriptor);
  void drop_iteration(const Descriptor& descriptor);
  void accept_file_again(const Descriptor& descriptor);
  void end_twice(const Descriptor& descriptor);
  void note_event(const Descriptor& descriptor);
  void left(int64_t iteration, const Departure& how) override;
  void gone(int64_t iteration) override;
  void file_verb_ended(const Descriptor& descriptor, const Status& status) override;
  void file_write_went(const Descriptor& descriptor, const Request& request, const Status& status) override;

  void copy_counts(const Engine::Counts& counts);
  bool is_waited_for() const;
  bool is_short_of_memory() const;
  bool is_short_of_iterations() const;
  int client() const override { return static_cast<int>(client_); }
  void give_back_forgotten();
  void answer_flushes();
  bool is_publishing() const;

  // Constant after construction.
  const Config& config_;
  const uint32_t client_;
  ClientEnds& to_client_;
  Engine& engine_;
  FileGroup& files_;
  TraceLog& trace_;
  ActionPort* actions_ = nullptr;
  FilterCrew* const crew_;         // may be none if nothing is filtered
  std::unique_ptr<RawFiles> raw_;  // none: no raw files are opened

  // The server's thread only.
  std::map<int64_t, Descriptor> ends_;  // of iterations that have not left: how they were ended
  ClientLayouts layouts_;
  VerbEnds verbs_;
  IterationMeter meter_;
  FileMeter file_meter_;
  ClientBlocks blocks_;              // uses those above
  uint64_t pending_file_bytes_ = 0;  // of the pool, in writes of raw files that have not ended
  bool has_left_ = false;
};

}  // namespace tailrace::impl
