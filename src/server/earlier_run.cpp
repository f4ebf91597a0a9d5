#include "server/earlier_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tailrace::impl {

void EarlierRun::recall(const LedgerRecords& records) {
  for (const LedgerRecord& record : records) {
    const bool is_gone = record.kind == LedgerRecord::Kind::gone;
    if (is_gone) came_.insert(record.client);
    if (is_gone && !is_over_) times_ = record.run;
    if (record.kind != LedgerRecord::Kind::absent) continue;
    times_ = record.run;
    is_over_ = true;
  }
}

Status EarlierRun::check(int client, pid_t process, const RunWatch& runs) const {
  if (!is_over() || came_.contains(client) || !runs.is_of(*times_, process)) return {};
  return Status(TAILRACE_CLIENTS_MISSING,
                fmt::format("client {} has come too late: its run has ended without it (found clients {}), after "
                            "place.patience or since another run had begun",
                            client, fmt::join(came_, ", ")));
}

bool EarlierRun::goes_on_with(pid_t process, const RunWatch& runs) const {
  return is_known() && !is_over_ && runs.is_of(*times_, process);
}

}  // namespace tailrace::impl
