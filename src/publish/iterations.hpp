// Iterations: the iterations of a group that have begun and not left, and how those that have left ended. Says of
// each if it takes blocks, what failed in it, who has ended it, and how far it is on its way out.
//
// Book-keeping: it opens, publishes and removes nothing. Only the witness hears of failures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/ended_numbers.hpp"
#include "base/status.hpp"
#include "format/format.hpp"
#include "publish/group_clients.hpp"
#include "publish/witness.hpp"

namespace tailrace::impl {

// Returns the phase of requests that write an iteration, see Request.
inline uint64_t phase_of(int64_t iteration) { return static_cast<uint64_t>(iteration) + 1; }

// Returns why a file of several nodes with blocks of this one is not there any more, if it is not: a run that has
// begun since could not complete it. REQUIRES: `why` is a failure.
Status removed_by_others(const Status& why);

// An iteration whose files are neither published nor removed.
struct Iteration {
  std::vector<FileId> files;  // by number; 0: not open
  std::string series_file;    // the open file of several iterations, if the file is one
  Status failure;             // why it will not be published
  Status refusal;             // why no block of it can be written
  uint32_t holds = 0;
  bool resumed = false;             // an earlier server had begun it, so its files may exist already …
  bool has_earlier_blocks = false;  // … and do, with blocks
  bool expects_blocks = false;      // … that will be placed later
  bool due = false;                 // it leaves as soon as nothing holds it …
  bool dropped = false;             // … by being removed
  bool abandoned = false;           // … unpublished, since no client is left to end it
  std::string why_dropped;
  bool leaving = false;  // the requests that end it were made
  GroupClients::Enders ended;

  bool opened() const { return !files.empty(); }
};

class Iterations {
 public:
  static constexpr size_t kUnpublishedRemembered = 4096;

  // All arguments must outlive this.
  Iterations(Format& format, const GroupClients& clients, Witness& witness)
      : format_(format), clients_(clients), witness_(witness) {}

  // Returns the iteration. It begins now if it has not begun, and leaves even if nothing else comes.
  Iteration& begin(int64_t iteration) { return unfinished_[iteration]; }
  // Returns null if it has not begun, or has left.
  const Iteration* find(int64_t iteration) const;
  std::map<int64_t, Iteration>& unfinished() { return unfinished_; }
  // Resumes an iteration of an earlier server; call it first for this iteration. Its files may exist already, and do
  // if `written`.
  void resume(int64_t iteration, bool written);
  // Notes that the iteration has a block, which will be placed later. It must have begun.
  void expect_block(int64_t iteration) { unfinished_.at(iteration).expects_blocks = true; }

  // Notes that a block of the iteration is lost, so that the iteration will never be published.
  void fail(int64_t iteration, const Status& why);
  // Fails the iteration, and all its blocks that follow.
  void refuse(int64_t iteration, const Status& why);
  // Returns why the iteration will not be published; ok if no reason is known.
  Status failure(int64_t iteration) const;
  // Returns true if the iteration will be removed, so that its blocks need not be written any more.
  bool given_up(int64_t iteration) const;
  // Returns ok if the iteration still takes blocks, as far as this remembers; else the reason.
  Status writable(int64_t iteration) const;
  // Returns why the iteration has no file: it has ended without one, or its first blocks are only expected. A file of
  // its name then belongs to an earlier run.
  Status why_no_file(int64_t iteration) const;

  // Returns true if the iteration is being published or removed: GroupMember::left() or gone() will follow.
  bool leaving(int64_t iteration) const;
  // Returns true if the requests that publish or remove the iteration were made.
  bool publishing(int64_t iteration) const;
  // Returns true if the iteration was published or removed, and no block of it has come since.
  bool has_left(int64_t iteration) const;
  // Returns the oldest iteration that all present members have ended and that has not left.
  std::optional<int64_t> ended_by_all_here() const;
  // Says which clients have ended the iteration, so that nothing can be added, and which are missing: a client that
  // comes too late may know neither.
  Status why_ended(int64_t number, const Iteration& iteration) const;

  void add_published(int64_t iteration) { published_.add(iteration); }
  // Notes that the iteration has left without a file: a file of its name belongs to an earlier run. Remembers the
  // latest of these.
  void add_unpublished(int64_t iteration, const Status& why);
  // Returns why the iteration has left without a file; ok if it is not known to have done so.
  Status why_unpublished(int64_t iteration) const;

 private:
  // Constant after construction.
  Format& format_;
  const GroupClients& clients_;
  Witness& witness_;

  // Used by the server's thread only.
  std::map<int64_t, Iteration> unfinished_;
  EndedNumbers published_;
  std::map<int64_t, Status> unpublished_;
  std::deque<int64_t> order_;  // keys of unpublished_, oldest first
};

}  // namespace tailrace::impl
