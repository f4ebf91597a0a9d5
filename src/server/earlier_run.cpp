#include "server/earlier_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tailrace::impl {

void EarlierRun::recall(const std::vector<LedgerRecord>& records) {
  for (const LedgerRecord& record : records) {
    if (record.kind == LedgerRecord::Kind::absent) times_ = record.run;
    if (record.kind == LedgerRecord::Kind::gone) came_.insert(record.client);
  }
}

Status EarlierRun::check(int client, pid_t process, const RunWatch& runs) const {
  if (!is_known() || came_.contains(client) || !runs.is_of(*times_, process)) return {};
  return Status(TAILRACE_CLIENTS_MISSING,
                fmt::format("client {} has come too late: its run has ended without it (found clients {}), after "
                            "place.patience or since another run had begun",
                            client, fmt::join(came_, ", ")));
}

}  // namespace tailrace::impl
