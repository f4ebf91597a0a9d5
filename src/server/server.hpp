// Server: the server of one client. Checks the client's verbs, hands each to the part that carries it out (blocks,
// raw files, the group's files), and reports its end to the client.
//
// Never waits; one thread, which drives the servers of all clients (ServedClients). Its group owns the client's
// files, from begin to publication, and may share them with other clients' servers. Knows the format, place and
// storage by their ports only.
#pragma once

#include <cstdint>
#include <map>
#include <memory>

#include "channel/client_ends.hpp"
#include "engine/engine.hpp"
#include "model/config/config.hpp"
#include "model/trace.hpp"
#include "model/wire/attribute_wire.hpp"
#include "publish/file_group.hpp"
#include "server/raw_files/file_meter.hpp"
#include "server/raw_files/raw_files.hpp"
#include "server/verbs/action_port.hpp"
#include "server/verbs/client_blocks.hpp"
#include "server/verbs/client_layouts.hpp"
#include "server/verbs/iteration_meter.hpp"
#include "server/verbs/verb_ends.hpp"

namespace tailrace::impl {

class Server final : private GroupMember, private RawFiles::Host {
 public:
  // Borrows all but `client`, for the life of the server. `crew` is needed if there are filtered variables.
  // `shares_memory`: the client's process is this one, so that the client may borrow.
  Server(const Config& config, int client, ClientEnds& to_client, Engine& engine, FileGroup& files, TraceLog& trace,
         FilterCrew* crew = nullptr, bool shares_memory = false);
  // REQUIRES: everything has ended.
  ~Server() override;

  // Returns ok if the client may send this verb now, and changes nothing. The client's values are not trusted: what a
  // verb refers to must be its own, and must exist. A failure says what the client sent.
  Status check(const Descriptor& descriptor) const;
  // REQUIRES: check(), and the engine has room for a verb (FileGroup::kRequestsAtOnce).
  void accept(const Descriptor& descriptor);
  // Begins verbs that had to wait for room in the engine. Returns true if it began any.
  bool begin_more();
  // Reports to the client what has ended; `counts` are the engine's.
  void report(const Engine::Counts& counts);

  // Accepts a verb that an earlier server accepted, in the same order. A verb that has ended is only noted. The
  // iterations are held (FileGroup) until all verbs are accepted, since an end may come before blocks that belong to
  // it.
  void accept_again(const Descriptor& descriptor);
  // Restores a chunk that an earlier server placed, as its Witness recorded it; call it in the recorded order. The
  // block has the layout with which it was accepted.
  void place_again(const Block& block, const FileGroup::Chunk& chunk) { blocks_.place_again(block, chunk); }
  // Marks the end of the earlier server's verbs and chunks.
  void end_again();
  // Returns true if the bytes of a block of the pool are in its file, or their write has failed.
  bool has_ended(const Descriptor& descriptor) const { return blocks_.has_ended(descriptor); }
  // Returns true if nothing of this client is under way.
  bool settled() const { return blocks_.idle() && verbs_.settled(); }
  // Notes that the client has gone, and accepts no more. Call it once.
  void leave();

  // Lets clients open raw files. Call it before any verb is accepted. Borrows `files` for the life of the server.
  void serve_files(SharedFiles& files);

  // Lets actions use blocks. Call it before any verb is accepted. Borrows `actions` for the life of the server.
  void serve_actions(ActionPort& actions) {
    actions_ = &actions;
    blocks_.serve_actions(actions);
  }
  // Ends what ActionPort::keeps() began: gives the block back to the client.
  void give_back(uint32_t block, uint64_t sequence) { to_client_.give_back(block, sequence); }
  // Returns true if the client waits for memory, has seen all blocks that were given back, and nothing is being
  // written.
  bool hungry() const;
  Urgency urgency() const;
  // Reports a failure to the client that belongs to none of its verbs.
  void tell(const Status& failure) override { verbs_.tell(failure); }
  // Returns true if the client is closing, and waits for that to end.
  bool is_closing() const { return verbs_.is_closing(); }
  FileGroup& files() { return files_; }

 private:
  Status check_block(const Descriptor& descriptor) const;
  void begin(const Descriptor& descriptor);
  void end_iteration(const Descriptor& descriptor);
  void drop_iteration(const Descriptor& descriptor);
  void accept_file_again(const Descriptor& descriptor);
  void end_twice(const Descriptor& descriptor);
  void note_event(const Descriptor& descriptor);
  void add_attribute(const Descriptor& descriptor);
  void left(int64_t iteration, const Departure& how) override;
  void gone(int64_t iteration) override;
  void file_verb_ended(const Descriptor& descriptor, const Status& status) override;
  void file_write_went(const Descriptor& descriptor, const Request& request, const Status& status) override;

  bool is_short_of_memory() const;
  int client() const override { return static_cast<int>(client_); }
  void answer_flushes();

  // Constant after construction.
  const Config& config_;
  const uint32_t client_;
  ClientEnds& to_client_;
  Engine& engine_;
  FileGroup& files_;
  TraceLog& trace_;
  ActionPort* actions_ = nullptr;
  FilterCrew* const crew_;  // may be null if nothing is filtered
  const bool shares_memory_;
  std::unique_ptr<RawFiles> raw_;  // null: there are no raw files

  // Used by the server's thread only.
  std::map<int64_t, Descriptor> ends_;  // by iteration that has not left: the verb that ended it
  AttributeParts attribute_;
  ClientLayouts layouts_;
  VerbEnds verbs_;
  IterationMeter meter_;
  FileMeter file_meter_;
  ClientBlocks blocks_;              // uses the members above
  uint64_t pending_file_bytes_ = 0;  // bytes of the pool in writes of raw files that have not ended
  bool has_left_ = false;
};

}  // namespace tailrace::impl
