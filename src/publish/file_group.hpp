// FileGroup: the files of a set of clients, each from the first block of its iteration until it is published or
// removed.
//
// A group has one client if each process has its own files, and all clients of a node if they share them. An
// iteration leaves when every client has ended it or has gone: then Departures carries out the format's publication
// plan. Iterations knows how far each one is, and IterationFiles opens its files. Runs on the server's thread; never
// waits. It moves no blocks: its members do that.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "engine/engine.hpp"
#include "format/format.hpp"
#include "model/config/settings.hpp"
#include "publish/departures.hpp"
#include "publish/group_clients.hpp"
#include "publish/iteration_files.hpp"
#include "publish/iterations.hpp"
#include "publish/witness.hpp"

namespace tailrace::impl {

class FileGroup final {
 public:
  struct Options {
    uint32_t clients = 1;  // number of clients that end every iteration
    OnMissing on_missing = OnMissing::publish;
    std::string journal;       // path of the file that lists dropped iterations
    uint64_t journal_end = 0;  // bytes that an earlier server has written into it
  };

  // Borrows all its arguments for the life of the group. `storage` is that of any client: the group uses only what
  // all have in common.
  FileGroup(const StorageSettings& storage, Engine& engine, Format& format, Log& log, Witness& witness,
            Options options);

  // Most requests of the engine that one call below makes.
  static constexpr uint32_t kRequestsAtOnce = Departures::kRequestsAtOnce;

  Iterations& iterations() { return iterations_; }
  Format& format() { return format_; }

  // ---- clients ----

  // To join, and to note those that had left before an earlier server died.
  GroupClients& clients() { return clients_; }
  // The client adds nothing more to any iteration, and its part of those that it has not ended may be missing.
  void leave(GroupMember& member);
  // Stops waiting for the clients that have not come. Iterations that all others have ended leave, and say that these
  // are missing. `clients`: their numbers, if known. None of them may come later.
  void give_up_absent(std::vector<int> clients);
  // Closes the files of iterations that no client is left to end, and leaves them unpublished. idle() returns true
  // when that is done.
  void abandon();

  // ---- blocks ----

  // The place of bytes: an open file of the engine, and the extents there.
  struct Place {
    FileId file = 0;
    std::vector<Extent> extents;
  };
  // A chunk of a filtered block; see Format::place_chunks.
  struct Chunk {
    uint64_t index = 0;
    FilteredChunk filtered;
    Loss loss;
  };
  // Gives the block, or a chunk of it, its place, and opens its file if need be. Fails if the block cannot be
  // written.
  Result<Place> place(const Block& block);
  Result<Place> place(const Block& block, const Chunk& chunk);
  // Does the same for a chunk that an earlier server has placed and recorded.
  Result<Place> place_again(const Block& block, const Chunk& chunk);
  // Holds the iteration while one of its blocks or reads is under way that will make more requests: it is published
  // or removed when the last hold is released. Fails, with the reason, if the iteration has ended without a file.
  Status hold(int64_t iteration);
  void release(int64_t iteration);
  // Returns the open file with the iteration's blocks while it is being written, by its number in Format::files; none
  // if it is not open.
  std::optional<FileId> unfinished_file(int64_t iteration, uint32_t index) const {
    return files_.find(iteration, index);
  }

  // ---- ends ----

  // Begins work that had to wait for room in the engine. Returns true if it began any.
  bool progress();
  Status note_event(int64_t iteration, const std::string& event);
  // Notes an attribute that a client has set; see Format.
  Status note_attribute(const AttributeNote& note);
  // Notes an action's finding for the iteration's file. Does nothing if the iteration has no file.
  Status note_finding(int64_t iteration, const std::string& by, const std::string& name, const FindingValue& value);
  // Marks the iteration to be removed when it ends, not published; `why` goes to the log and the journal.
  void give_up(int64_t iteration, const std::string& why);
  // Notes that the member has ended the iteration. Returns true if the iteration is leaving now; otherwise it waits
  // for other members.
  bool end(GroupMember& member, int64_t iteration);
  // Drops the whole iteration, for all members; `why` goes to the log and the journal.
  void drop(GroupMember& member, int64_t iteration, std::string why);

  // Completes a publication of an earlier server; see Departures.
  void complete_publication(int64_t iteration) { departures_.complete_publication(iteration); }
  bool completing() const { return departures_.completing(); }
  bool idle() const { return departures_.idle() && due_.empty(); }

 private:
  void let_complete_go();
  void let_go(int64_t number, Iteration& iteration);
  void go_when_free(int64_t number);
  bool go_if_free(int64_t number);
  Result<Place> in_file(int64_t number, Result<Placement> placement);

  // Constant after construction.
  Engine& engine_;
  Format& format_;
  Log& log_;
  Witness& witness_;

  // Used by the server's thread only.
  GroupClients clients_;
  Iterations iterations_;
  IterationFiles files_;
  Departures departures_;
  std::set<int64_t> due_;  // iterations that nothing holds, but for which the engine had no room
};

}  // namespace tailrace::impl
