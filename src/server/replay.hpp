// Replay: repeats what an earlier server had accepted, so that a server continues where that one died. Restores the
// files as it had them, and then its verbs and places in the order of the ledger, a few at once.
//
// An iteration is held until all are repeated, since its end may come before blocks that belong to it. Takes no new
// verbs: its owner waits for over(). One thread.
#pragma once

#include <cstdint>
#include <deque>
#include <utility>
#include <vector>

#include "server/members.hpp"

namespace tailrace::impl {

class Replay final {
 public:
  // Returns true if a file of an iteration's number may be that of its blocks. With a block that is still to be
  // written, it is of an earlier run. `tells`: also without a block, the file can only be of this run.
  static bool may_be_in_file(bool some_written, bool all_written, bool tells) {
    return all_written && (some_written || tells);
  }
  // Returns true for verbs that belong to no iteration, and are not struck out with one.
  static bool is_passing(Verb verb);

  // Borrows both.
  Replay(Members& members, Ledger& ledger) : members_(members), ledger_(ledger) {}

  // Restores the formats and files, and queues verbs and places. Call it once, when all clients of the earlier server
  // that are here were added.
  void begin();
  // Repeats as many as the engine has room for, and until a file must be opened first.
  void progress();
  // Returns true if progress() has something to do now.
  bool may_go_on() const;
  bool over() const { return again_.empty() && !has_begun_; }

 private:
  void note_earlier_clients();
  void resume(Members::Files& files, const std::vector<LedgerRecord>& records);
  bool is_published(const LedgerRecord& record) const;
  void repeat(const LedgerRecord& record);

  Members& members_;
  Ledger& ledger_;
  std::deque<LedgerRecord> again_;
  std::vector<std::pair<FileGroup*, int64_t>> held_;  // iterations that are held until again_ is empty
  bool has_begun_ = false;                            // and has not ended
};

}  // namespace tailrace::impl
