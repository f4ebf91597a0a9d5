// FileGroup: the files of a set of clients, each from the first block of its iteration until it is published or
// removed.
//
// The group of one client where there is a file a process, of all the node's clients where there is one a node. An
// iteration leaves when every client has ended it, or has gone: the format's publication plan is then carried out by
// a few requests of the engine. Runs on the server's thread; never waits. Moves no blocks: that is its members' work.
//
// More than 35 functions: the group is what the servers of its members, actions and adoption ask about an iteration,
// and each of these asks a few things of its own. What an answer takes is in the parts that it has.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "engine/engine.hpp"
#include "format/format.hpp"
#include "model/config.hpp"
#include "publish/batches.hpp"
#include "publish/drop_journal.hpp"
#include "publish/group_clients.hpp"
#include "publish/iteration_ends.hpp"
#include "publish/publisher.hpp"
#include "publish/witness.hpp"

namespace tailrace::impl {

class FileGroup final {
 public:
  struct Options {
    uint32_t clients = 1;      // that end every iteration
    std::string journal;       // the file that dropped iterations are written down in
    uint64_t journal_end = 0;  // bytes that an earlier server has written into it
    Witness* witness = nullptr;
  };

  // All are borrowed for the life of the group; `config` is that of any client, for what they have in common.
  FileGroup(const Config& config, Engine& engine, Format& format, Log& log, Options options);

  // Returns the phase of requests that write an iteration, see Request.
  static uint64_t phase_of(int64_t iteration) { return static_cast<uint64_t>(iteration) + 1; }

  // Requests of the engine that one call below may make at most.
  static constexpr uint32_t kRequestsAtOnce = Publisher::kRequestsAtOnce + 3;
  static_assert(kRequestsAtOnce > Format::kMostFiles, "it removes all files of an iteration, and writes a line");

  // ---- clients ----

  // A client comes. One that leaves has nothing more to add to any iteration, and its part of those that it has not
  // ended may be missing.
  void join(GroupMember& member) { clients_.join(member); }
  void leave(GroupMember& member);
  // The client had left before an earlier server died.
  void note_gone(int client) { clients_.note_gone(client); }
  // How many clients have never come, and are waited for.
  uint32_t yet_to_come() const { return clients_.yet_to_come(); }
  // They are not waited for any more: what all others have ended leaves, and says that they are missing. `clients`:
  // their numbers, where these are known. None of them may come later.
  void give_up_absent(std::vector<int> clients);
  // Closes the files of iterations that nobody is left to end, and leaves them unpublished. Then idle() says when it
  // has been done.
  void abandon();

  // ---- blocks ----

  // Where bytes go: into which open file of the engine, and where there.
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
  // Gives the block, or a chunk of it, its place, and opens its file if need be; or says why it cannot be written.
  Result<Place> place(const Block& block);
  Result<Place> place(const Block& block, const Chunk& chunk);
  // Does so with a chunk that an earlier server has placed, and written down.
  Result<Place> place_again(const Block& block, const Chunk& chunk);
  // A block of the iteration is lost: it will never be published.
  void fail(int64_t iteration, const Status& why);
  // Fails the iteration, and all blocks of it that follow.
  void refuse(int64_t iteration, const Status& why);
  // Keeps the iteration as it is while a block or read of it is under way that makes more requests later: it is
  // published or removed when the last hold has been released. Fails if it has ended without a file, and says why.
  Status hold(int64_t iteration);
  void release(int64_t iteration);
  // Returns ok if blocks of the iteration may come, else why not.
  Status writable(int64_t iteration) const;
  // Returns the file that holds blocks of the iteration while it is being written, by its number in Format::files;
  // none if it is not open.
  std::optional<FileId> unfinished_file(int64_t iteration, uint32_t index) const;

  // ---- ends ----

  // Begins what had to wait for room in the engine. Returns whether it did.
  bool progress();
  Status note_event(int64_t iteration, const std::string& event);
  // Notes a finding of an action for the iteration's file. Does nothing if it has no file.
  Status note_finding(int64_t iteration, const std::string& name, const FindingValue& value);
  // The iteration shall be removed when it ends, not published; `why` goes to the log and the journal.
  void give_up(int64_t iteration, const std::string& why);
  // The member has no more to add. Returns whether its iteration is leaving now; else it waits for other members.
  bool end(GroupMember& member, int64_t iteration);
  // The whole iteration is given up, for all members; `why` goes to the log and the journal.
  void drop(GroupMember& member, int64_t iteration, std::string why);

  // Returns true if the iteration has been published or removed, and nothing of it has come since.
  bool has_left(int64_t iteration) const {
    return !iterations_.contains(iteration) && !ends_.writable(iteration).ok();
  }
  // Returns true if the iteration is on its way to its final name, or is being removed: left() or gone() will follow.
  bool leaving(int64_t iteration) const;
  // Returns true if the requests have been made that give the iteration its name, or remove it.
  bool publishing(int64_t iteration) const;
  // Returns true while a name that an earlier server gave is not yet durable (complete_publication()).
  bool completing() const { return completing_ > 0; }
  // Why the iteration will not be published, if that is known.
  Status failure(int64_t iteration) const;
  // Returns true if the iteration is being given up: nothing more of it need be written.
  bool given_up(int64_t iteration) const;
  // The oldest iteration that all who are here have ended, and that has not left.
  std::optional<int64_t> ended_by_all_here() const;
  // Why the iteration has ended without a file: one of that name is of an earlier run. Ok if it has not.
  Status why_unpublished(int64_t iteration) const { return ends_.why_unpublished(iteration); }

  // ---- what an earlier server left ----

  // Resumes an iteration of an earlier server, before any other call for it. Its files may exist already, and do if
  // blocks have been written.
  void resume(int64_t iteration, bool written) { resumed_[iteration] = written; }
  // An earlier server has renamed the iteration's file, and perhaps not come to make its name durable.
  void complete_publication(int64_t iteration);
  // The iteration has left without a file.
  void remember_unpublished(int64_t iteration, const Status& why) { ends_.add_unpublished(iteration, why); }

  bool idle() const { return batches_.idle() && publisher_.idle() && due_.empty(); }
  Format& format() { return format_; }

 private:
  // An iteration whose files have not been published or removed.
  struct Iteration {
    std::vector<FileId> files;  // by number; 0: not open
    Status failure;             // why it will not be published
    Status refusal;             // why no block of it can be written
    uint32_t holds = 0;
    bool due = false;        // leaves as soon as nobody holds it
    bool dropped = false;    // … by being removed
    bool abandoned = false;  // … as it is: nobody is left to end it
    std::string why_dropped;
    bool leaving = false;  // the requests for it have been made
    GroupClients::Enders ended;

    bool opened() const { return !files.empty(); }
  };

  void let_complete_go();
  Status why_ended(int64_t number, const Iteration& iteration) const;
  void let_go(int64_t number, Iteration& iteration);
  void go_when_free(int64_t number);
  bool go_if_free(int64_t number);
  Status kept_for_absent(const FileNames& names) const;
  void publish(int64_t number, Iteration& iteration);
  void end_unwritten(int64_t number, const Status& why, const Request::Course& course);
  void end_kept(int64_t number, const Status& why, const Request::Course& course);
  void note_missing(int64_t number, const Iteration& iteration);
  void remove(int64_t number, Iteration& iteration);
  void close(int64_t number, Iteration& iteration);
  std::vector<Request> for_each_open(int64_t number, const Iteration& iteration, Operation operation) const;
  Result<Place> in_file(int64_t number, Result<Placement> placement);
  Result<FileId> open_file(int64_t number, Iteration& iteration, uint32_t index);
  Status open_all(int64_t number, Iteration& iteration);
  Result<FileId> open_or_continue(const FileNames& names, int64_t number);
  void depart(int64_t number, const Departure& how);

  // Constant after construction.
  const Config& config_;
  Engine& engine_;
  Format& format_;
  Log& log_;
  NoWitness nobody_;
  Witness& witness_;

  // The server's thread only.
  GroupClients clients_;
  Batches batches_;
  Publisher publisher_;
  DropJournal journal_;
  IterationEnds ends_;
  std::map<int64_t, Iteration> iterations_;
  std::map<int64_t, bool> resumed_;  // that have not left; and whether there are blocks in their files
  std::set<int64_t> due_;            // nobody holds them, but the engine had no room
  size_t completing_ = 0;            // iterations of complete_publication() whose names are not durable yet
};

}  // namespace tailrace::impl
