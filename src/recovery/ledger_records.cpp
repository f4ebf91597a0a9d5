#include "recovery/ledger_records.hpp"

#include <algorithm>
#include <limits>

namespace tailrace::impl {

void LedgerRecords::add(const LedgerRecord& record) {
  ++counts_[static_cast<size_t>(record.kind)];
  index_[{record.iteration, record.client}].push_back(records_.insert(records_.end(), record));
}

// Returns the entry that follows.
LedgerRecords::Index::iterator LedgerRecords::erase_at(Index::iterator at, Condition condition) {
  std::erase_if(at->second, [&](Records::iterator of) {
    if (!condition(*of)) return false;
    --counts_[static_cast<size_t>(of->kind)];
    records_.erase(of);
    return true;
  });
  return at->second.empty() ? index_.erase(at) : std::next(at);
}

void LedgerRecords::erase_of(int64_t iteration, int client, Condition condition) {
  const auto found = index_.find({iteration, client});
  if (found != index_.end()) erase_at(found, condition);
}

void LedgerRecords::erase_of_all(int64_t iteration, Condition condition) {
  auto at = index_.lower_bound({iteration, std::numeric_limits<int32_t>::min()});
  while (at != index_.end() && at->first.first == iteration) at = erase_at(at, condition);
}

size_t LedgerRecords::erase_if(Condition condition) {
  const size_t before = records_.size();
  for (auto at = index_.begin(); at != index_.end();) at = erase_at(at, condition);
  return before - records_.size();
}

void LedgerRecords::erase_first(Condition condition) {
  const auto found = std::find_if(records_.begin(), records_.end(), condition);
  if (found == records_.end()) return;
  const LedgerRecord* const first = &*found;
  erase_of(found->iteration, found->client, [first](const LedgerRecord& of) { return &of == first; });
}

void LedgerRecords::replace(const std::vector<LedgerRecord>& records) {
  *this = {};
  for (const LedgerRecord& record : records) add(record);
}

void LedgerRecords::visit_of(int64_t iteration, int client,
                             FunctionRef<void(const LedgerRecord& record)> visit) const {
  const auto found = index_.find({iteration, client});
  if (found == index_.end()) return;
  for (const auto& of : found->second) visit(*of);
}

}  // namespace tailrace::impl
