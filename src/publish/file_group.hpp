// FileGroup: the files of a set of clients, each from the first block of its iteration until it is published or
// removed.
//
// A group has one client if each process has its own files, and all clients of a node if they share them. An
// iteration leaves when every client has ended it or has gone: then a few requests of the engine carry out the
// format's publication plan. Runs on the server's thread; never waits. It moves no blocks: its members do that.
//
// FileGroup has more than 35 functions: the servers of its members, actions and adoption each ask it a few things
// about an iteration. The group's parts do the work behind them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "engine/engine.hpp"
#include "format/format.hpp"
#include "model/config/settings.hpp"
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
    uint32_t clients = 1;  // number of clients that end every iteration
    OnMissing on_missing = OnMissing::publish;
    std::string journal;       // path of the file that lists dropped iterations
    uint64_t journal_end = 0;  // bytes that an earlier server has written into it
  };

  // Borrows all its arguments for the life of the group. `storage` is that of any client: the group uses only what
  // all have in common.
  FileGroup(const StorageSettings& storage, Engine& engine, Format& format, Log& log, Witness& witness,
            Options options);

  // Returns the phase of requests that write an iteration, see Request.
  static uint64_t phase_of(int64_t iteration) { return static_cast<uint64_t>(iteration) + 1; }

  // Most requests of the engine that one call below makes.
  static constexpr uint32_t kRequestsAtOnce = Publisher::kRequestsAtOnce + 3;
  static_assert(kRequestsAtOnce > Format::kMostFiles + 1, "it removes all files of an iteration, and writes a line");

  // ---- clients ----

  // A client joins. When one leaves, it adds nothing more to any iteration, and its part of those that it has not
  // ended may be missing.
  void join(GroupMember& member) { clients_.join(member); }
  void leave(GroupMember& member);
  // Notes that the client had left before an earlier server died.
  void note_gone(int client) { clients_.note_gone(client); }
  // Returns how many clients have not come yet and are still waited for.
  uint32_t yet_to_come() const { return clients_.yet_to_come(); }
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
  // Notes that a block of the iteration is lost, so that the iteration will never be published.
  void fail(int64_t iteration, const Status& why);
  // Fails the iteration, and all its blocks that follow.
  void refuse(int64_t iteration, const Status& why);
  // Holds the iteration while one of its blocks or reads is under way that will make more requests: it is published
  // or removed when the last hold is released. Fails, with the reason, if the iteration has ended without a file.
  Status hold(int64_t iteration);
  void release(int64_t iteration);
  // Returns ok if the iteration still takes blocks, else the reason.
  Status writable(int64_t iteration) const;
  // Returns the open file with the iteration's blocks while it is being written, by its number in Format::files; none
  // if it is not open.
  std::optional<FileId> unfinished_file(int64_t iteration, uint32_t index) const;

  // ---- ends ----

  // Begins work that had to wait for room in the engine. Returns true if it began any.
  bool progress();
  Status note_event(int64_t iteration, const std::string& event);
  // Notes that something of the iteration is on its way, so that the iteration leaves even if nothing else comes.
  void begin(int64_t iteration) { iterations_.try_emplace(iteration); }
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

  // Returns true if the iteration was published or removed, and no block of it has come since.
  bool has_left(int64_t iteration) const {
    return !iterations_.contains(iteration) && !ends_.writable(iteration).ok();
  }
  // Returns true if the iteration is being published or removed: left() or gone() will follow.
  bool leaving(int64_t iteration) const;
  // Returns true if the requests that publish or remove the iteration were made.
  bool publishing(int64_t iteration) const;
  // Returns true while a name that an earlier server gave is not yet durable (complete_publication()).
  bool completing() const { return completing_ > 0; }
  // Returns why the iteration will not be published; ok if no reason is known.
  Status failure(int64_t iteration) const;
  // Returns true if the iteration will be removed, so that its blocks need not be written any more.
  bool given_up(int64_t iteration) const;
  // Returns the oldest iteration that all present members have ended and that has not left.
  std::optional<int64_t> ended_by_all_here() const;
  // Notes that the iteration has a block, which will be placed later. Call it after hold().
  void expect_block(int64_t iteration) { iterations_.at(iteration).expects_blocks = true; }
  // Returns why the iteration has no file: it has ended without one, or its first blocks are only expected. A file of
  // its name then belongs to an earlier run.
  Status why_no_file(int64_t iteration) const;

  // ---- taking over from an earlier server ----

  // Resumes an iteration of an earlier server; call it first for this iteration. Its files may exist already, and do
  // if `written`.
  void resume(int64_t iteration, bool written) { resumed_[iteration] = written; }
  // Completes a publication: an earlier server has renamed the iteration's file, and perhaps not made the name
  // durable.
  void complete_publication(int64_t iteration);
  // Notes that the iteration has left without a file.
  void remember_unpublished(int64_t iteration, const Status& why) { ends_.add_unpublished(iteration, why); }

  bool idle() const { return batches_.idle() && publisher_.idle() && due_.empty(); }
  Format& format() { return format_; }

 private:
  // An iteration whose files are neither published nor removed.
  struct Iteration {
    std::vector<FileId> files;  // by number; 0: not open
    std::string series_file;    // the open file of several iterations, if the file is one
    Status failure;             // why it will not be published
    Status refusal;             // why no block of it can be written
    uint32_t holds = 0;
    bool expects_blocks = false;  // … that will be placed later
    bool due = false;             // it leaves as soon as nothing holds it …
    bool dropped = false;         // … by being removed
    bool abandoned = false;       // … unpublished, since no client is left to end it
    std::string why_dropped;
    bool leaving = false;  // the requests that end it were made
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
  void tell_missing(int64_t number, const std::vector<int>& missing);
  Status doubt(int64_t number) const;
  // Gets how it ended; `visible`: the file has its name, or other nodes are still to come.
  using Completed = std::function<void(Batches::End how, bool visible)>;
  void complete(int64_t number, const Completed& then);
  void then_if_completed(int64_t number, const Batches::End& how, const Completed& then);
  void complete_again(int64_t number);
  void remove(int64_t number, Iteration& iteration);
  void close(int64_t number, Iteration& iteration);
  std::vector<Request> for_each_open(int64_t number, const Iteration& iteration, Operation operation) const;
  Result<Place> in_file(int64_t number, Result<Placement> placement);
  Result<FileId> open_file(int64_t number, Iteration& iteration, uint32_t index);
  Status open_all(int64_t number, Iteration& iteration);
  Status taken_by_another(int64_t number, uint32_t index) const;
  bool must_be_there(const FileNames& names, int64_t number) const;
  FileId open_or_continue(const FileNames& names, int64_t number);
  void depart(int64_t number, const Departure& how);

  // Constant after construction.
  const StorageSettings& storage_;
  Engine& engine_;
  Format& format_;
  Log& log_;
  Witness& witness_;
  const OnMissing on_missing_;

  // Used by the server's thread only.
  GroupClients clients_;
  Batches batches_;
  Publisher publisher_;
  DropJournal journal_;
  IterationEnds ends_;
  std::set<int> told_missing_;  // clients that have gone, of which the others were told
  std::map<int64_t, Iteration> iterations_;
  std::map<int64_t, bool> resumed_;  // iterations that have not left; true if their files have blocks
  std::set<int64_t> due_;            // iterations that nothing holds, but for which the engine had no room
  size_t completing_ = 0;            // number of iterations of complete_publication() whose names are not durable yet
};

}  // namespace tailrace::impl
