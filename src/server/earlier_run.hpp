// EarlierRun: the run before, if some of its clients have not come and none is there: these may still come, to a
// server that knows of that run only what the ledger says. Plain book-keeping.
#pragma once

#include <optional>
#include <set>

#include "base/status.hpp"
#include "recovery/ledger_records.hpp"
#include "server/run_watch.hpp"

namespace tailrace::impl {

class EarlierRun {
 public:
  // Takes up the ledger of a server that has left nothing else.
  void recall(const LedgerRecords& records);
  void forget() { *this = {}; }
  bool is_known() const { return times_.has_value(); }
  // Returns true if the run has ended without the clients that had not come. Otherwise its server died while it
  // waited for them, and all that had come had left.
  bool is_over() const { return is_known() && is_over_; }
  // Requires is_known().
  const RunTimes& times() const { return *times_; }

  // Fails if the process, which wants to come as that client, belongs to a run that is over: it is too late.
  Status check(int client, pid_t process, const RunWatch& runs) const;
  // Returns true if the run is not over, and the process belongs to it.
  bool goes_on_with(pid_t process, const RunWatch& runs) const;

 private:
  std::optional<RunTimes> times_;
  bool is_over_ = false;
  std::set<int> came_;
};

}  // namespace tailrace::impl
