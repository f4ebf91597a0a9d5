// LedgerRecords: the records of a ledger that are not struck out, oldest first. Those of an iteration are found
// without looking at the others, however many clients and iterations there are.
#pragma once

#include <array>
#include <cstdint>
#include <list>
#include <map>
#include <utility>
#include <vector>

#include "base/function_ref.hpp"
#include "model/wire/core_wire.hpp"

namespace tailrace::impl {

class LedgerRecords {
 public:
  using Condition = FunctionRef<bool(const LedgerRecord& record)>;

  void add(const LedgerRecord& record);
  // Erases the records of an iteration for which the condition holds; those of one client or group, or of all.
  void erase_of(int64_t iteration, int client, Condition condition);
  void erase_of_all(int64_t iteration, Condition condition);
  // Erases records of any iteration; looks at all of them. Returns how many.
  size_t erase_if(Condition condition);
  // Erases the oldest record for which the condition holds.
  void erase_first(Condition condition);
  void replace(const std::vector<LedgerRecord>& records);

  // Calls `visit` with each record of an iteration and one client or group, oldest first.
  void visit_of(int64_t iteration, int client, FunctionRef<void(const LedgerRecord& record)> visit) const;
  std::vector<LedgerRecord> copy() const { return {records_.begin(), records_.end()}; }

  size_t size() const { return records_.size(); }
  size_t count(LedgerRecord::Kind kind) const { return counts_[static_cast<size_t>(kind)]; }
  auto begin() const { return records_.begin(); }
  auto end() const { return records_.end(); }
  const LedgerRecord& front() const { return records_.front(); }
  const LedgerRecord& back() const { return records_.back(); }

 private:
  using Records = std::list<LedgerRecord>;
  using Key = std::pair<int64_t, int32_t>;  // iteration, and client or group
  using Index = std::map<Key, std::vector<Records::iterator>>;

  Index::iterator erase_at(Index::iterator at, Condition condition);

  Records records_;
  Index index_;  // each record is in one entry, oldest first; none is empty
  std::array<size_t, LedgerRecord::kKinds> counts_{};
};

}  // namespace tailrace::impl
