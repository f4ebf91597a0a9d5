// EarlierRun: the run before, if it ended without some of its clients: these may still come, to a server that knows
// nothing of them but this. Plain book-keeping.
#pragma once

#include <optional>
#include <set>
#include <vector>

#include "base/status.hpp"
#include "model/wire/core_wire.hpp"
#include "server/run_watch.hpp"

namespace tailrace::impl {

class EarlierRun {
 public:
  // Takes up the ledger of a server that has left nothing else.
  void recall(const std::vector<LedgerRecord>& records);
  void forget() { times_.reset(); }
  bool is_known() const { return times_.has_value(); }

  // Fails if the process, which wants to come as that client, belongs to that run: it is too late.
  Status check(int client, pid_t process, const RunWatch& runs) const;

 private:
  std::optional<RunTimes> times_;
  std::set<int> came_;
};

}  // namespace tailrace::impl
