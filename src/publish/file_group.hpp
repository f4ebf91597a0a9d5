// FileGroup: the files of a set of clients, each from the first block of its iteration until it is published or
// removed.
//
// The group of one client where there is a file a process, of all the node's clients where there is one a node. An
// iteration leaves when every client has ended it, or has gone: its file is then completed and renamed by a few
// requests of the engine. Runs on the server's thread; never waits. Moves no blocks: that is its members' work.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ended_numbers.hpp"
#include "base/log.hpp"
#include "engine/engine.hpp"
#include "format/format.hpp"
#include "model/config.hpp"
#include "publish/publication.hpp"

namespace tailrace::impl {

class FileGroup final : public CompletionSink {
 public:
  // How an iteration left.
  struct Departure {
    bool dropped = false;
    bool written = false;  // there was something to publish
    Status status;         // why it was not published, or could not be removed
    Request::Course course;
  };

  // A client of the group.
  class Member {
   public:
    virtual ~Member() = default;
    virtual int client() const = 0;
    // The iteration, which this member has ended or dropped, has left.
    virtual void left(int64_t iteration, const Departure& how) = 0;
    // Another member has dropped the iteration, or it has left without this one.
    virtual void gone(int64_t iteration) = 0;
    // Something has failed that none of its verbs asked for.
    virtual void tell(const Status& failure) = 0;
  };

  // The memory of events that must outlive the server, if somebody keeps it.
  class Witness {
   public:
    virtual ~Witness() = default;
    virtual void failed(int64_t iteration, const Status& why) = 0;
    virtual void left(int64_t iteration) = 0;
    // Notes an iteration without a file.
    virtual void unpublished(int64_t iteration, const Status& why) = 0;
    // The journal holds so many bytes.
    virtual void journaled(uint64_t end) = 0;
    // Why nothing of the iteration is to be believed, though all its blocks have been written; ok: it is.
    virtual Status doubt(int64_t /*iteration*/) { return {}; }
    // A chunk has its place.
    virtual void placed(const Block& block, uint64_t index, const FilteredChunk& chunk, const Loss& loss);
  };

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
  static constexpr uint32_t kRequestsAtOnce = kMaxPublicationRequests + 3;

  // A client comes. One that leaves has nothing more to add to any iteration, and its part of those that it has not
  // ended may be missing.
  void join(Member& member, int client);
  void leave(Member& member, int client);
  // The client had left before an earlier server died.
  void note_gone(int client);
  // How many clients have never come, and are waited for.
  uint32_t yet_to_come() const;
  // They are not waited for any more: what all others have ended leaves, and says that they are missing. `clients`:
  // their numbers, where these are known. None of them may come later.
  void give_up_absent(std::vector<int> clients);
  // Closes the files of iterations that nobody is left to end, and leaves them unpublished. Then idle() says when it
  // has been done.
  void abandon();

  // The file of an iteration, opened if need be; or why its blocks cannot be written.
  Result<FileId> file(int64_t iteration);
  // A block of the iteration is lost: it will never be published.
  void fail(int64_t iteration, const Status& why);
  // Fails the iteration, and all blocks of it that follow.
  void refuse(int64_t iteration, const Status& why);
  // Where a chunk of a filtered block goes; see Format::place_chunks.
  Result<Extent> place_chunk(const Block& block, uint64_t index, const FilteredChunk& chunk, const Loss& loss);
  // Keeps the iteration as it is while a block or read of it is under way that makes more requests later: it is
  // published or removed when the last hold has been released. Fails if it has ended without a file, and says why.
  Status hold(int64_t iteration);
  void release(int64_t iteration);
  // Begins what had to wait for room in the engine. Returns whether it did.
  bool progress();
  Status note_event(int64_t iteration, const std::string& event);
  // Notes a finding of an action for the iteration's file. Does nothing if it has no file.
  Status note_finding(int64_t iteration, const std::string& name, const FindingValue& value);
  // The iteration shall be removed when it ends, not published; `why` goes to the log and the journal.
  void give_up(int64_t iteration, const std::string& why);
  // The member has no more to add. Returns whether its iteration is leaving now; else it waits for other members.
  bool end(Member& member, int64_t iteration);
  // The whole iteration is given up, for all members; `why` goes to the log and the journal.
  void drop(Member& member, int64_t iteration, std::string why);

  // Returns true if the iteration is on its way to its final name, or is being removed: left() or gone() will follow.
  bool leaving(int64_t iteration) const;
  // Returns true if the requests have been made that give the iteration its name, or remove it.
  bool publishing(int64_t iteration) const;
  // Returns true while a name that an earlier server gave is not yet durable (complete_publication()).
  bool completing() const { return !late_syncs_.empty(); }
  // Why the iteration will not be published, if that is known.
  Status failure(int64_t iteration) const;
  // Returns true if the iteration is being given up: nothing more of it need be written.
  bool given_up(int64_t iteration) const;
  // The oldest iteration that all who are here have ended, and that has not left.
  std::optional<int64_t> ended_by_all_here() const;
  // Returns ok if blocks of the iteration may come, else why not.
  Status writable(int64_t iteration) const;
  // The file that holds an iteration's blocks while it is being written; nothing if there is none. Fails if the
  // iteration has ended without a file: one of that name is of an earlier run.
  Result<FileId> unfinished_file(int64_t iteration, bool& found) const;

  // Resumes an iteration of an earlier server, before any other call for it. Its file may exist already, and does if
  // blocks have been written.
  void resume(int64_t iteration, bool written);
  // An earlier server has renamed the iteration's file, and perhaps not come to make its name durable.
  void complete_publication(int64_t iteration);
  // The iteration has left without a file: one of that name is of an earlier run.
  void remember_unpublished(int64_t iteration, const Status& why);

  bool idle() const { return works_.empty() && due_.empty(); }
  Format& format() { return format_; }

  void ended(const Request& request, const Status& status) override;

 private:
  enum class Kind { publication, directory, removal, abandonment, late_sync };

  // By their clients, so that what happens does not depend on where they lie in memory.
  struct ByClient {
    bool operator()(const Member* one, const Member* other) const {
      return one->client() != other->client() ? one->client() < other->client() : one < other;
    }
  };
  using Members = std::set<Member*, ByClient>;

  // A file on its way out.
  struct Work {
    Kind kind = Kind::publication;
    int64_t iteration = -1;
    uint32_t requests = 0;               // that have not ended
    Request::Course course;              // of all of them together
    Status status;                       // of the first that failed
    std::unique_ptr<FileEnding> ending;  // publication: the bytes being written
    FileNames names;                     // publication: the file
    bool kept = false;                   // … which does not get its name
    FileId file = 0;                     // directory: opened for this work alone, closed at its end; else 0
    std::string text;                    // removal: the journal's line being written …
    uint64_t journal_end = 0;            // … and where it ends
  };

  // An iteration whose file has not been published or removed.
  struct Iteration {
    bool opened = false;
    FileId file = 0;
    Status failure;  // why it will not be published
    Status refusal;  // why no block of it can be written
    uint32_t holds = 0;
    bool due = false;        // leaves as soon as nobody holds it
    bool dropped = false;    // … by being removed
    bool abandoned = false;  // … as it is: nobody is left to end it
    std::string why_dropped;
    bool leaving = false;  // the requests for it have been made
    Members ended;
    std::set<int> ended_by_gone;  // clients that ended it, and have left since
  };

  using WorkId = uint64_t;

  bool complete(const Iteration& iteration) const;
  void let_complete_go();
  std::vector<int> missing_in(const Iteration& iteration) const;
  Status why_ended(int64_t number, const Iteration& iteration) const;
  void let_go(int64_t number, Iteration& iteration);
  void go_when_free(int64_t number);
  bool go_if_free(int64_t number);
  Status kept_for_absent(const FileNames& names) const;
  void publish(int64_t number, Iteration& iteration);
  void remove(int64_t number, Iteration& iteration);
  void close(int64_t number, Iteration& iteration);
  void begin_directory_sync(const Work& publication);
  Status open_file(int64_t number, Iteration& iteration);
  Result<FileId> open_or_continue(const FileNames& names, int64_t number);
  Status open_journal();
  Request journal_line(Work& work, const Iteration& iteration);
  WorkId new_work(Kind kind, int64_t iteration);
  void submit(WorkId id, Request request);
  void end_work(WorkId id);
  void end_publication(const Work& work);
  void end_late_sync(const Work& work);
  void depart(int64_t number, const Departure& how);

  // Constant after construction.
  const Config& config_;
  Engine& engine_;
  Format& format_;
  Log& log_;
  const Options options_;

  // The server's thread only.
  Members members_;
  std::set<int> gone_;  // clients that have left
  // Clients that never came and are not waited for any more, and the numbers of these, as far as they are known.
  uint32_t absent_ = 0;
  std::vector<int> absent_numbers_;
  EndedNumbers published_;
  WorkId next_work_ = 1;
  std::unordered_map<WorkId, Work> works_;
  std::map<int64_t, Iteration> iterations_;
  // State of complete_publication: the number of syncs that have not ended, and the first failure of those that have.
  struct LateSyncs {
    size_t left = 0;
    Status status;
  };
  std::map<int64_t, LateSyncs> late_syncs_;
  std::map<int64_t, bool> resumed_;  // and whether there are blocks in their files
  // Iterations that ended without a file, the latest of them, and why: a file under such a name is of an earlier run.
  std::map<int64_t, Status> unpublished_;
  std::set<int64_t> due_;  // nobody holds them, but the engine had no room
  FileId journal_ = 0;     // of dropped iterations; 0 until the first
  uint64_t journal_end_ = 0;
};

}  // namespace tailrace::impl
