// KeptLedger: a ledger's lines in memory that outlives the server. The server may die right after its first line of
// one kind: nothing that it records later is kept.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "recovery/ledger_store.hpp"

namespace tailrace::impl {

class KeptLedger final : public LedgerStore {
 public:
  using Lines = std::vector<LedgerRecord>;

  // Borrows `lines`. `last`: the kind of the last line.
  explicit KeptLedger(Lines& lines, std::optional<LedgerRecord::Kind> last = {}) : lines_(lines), last_(last) {}

  Result<Lines> read() override { return lines_; }
  Status append(const LedgerRecord& record) override {
    if (!dead_) lines_.push_back(record);
    dead_ = dead_ || record.kind == last_;
    return {};
  }
  Status replace(std::span<const LedgerRecord> records) override {
    if (!dead_) lines_.assign(records.begin(), records.end());
    return {};
  }
  void append_last(const LedgerRecord& record) override { (void)append(record); }
  void remove() override {
    if (!dead_) lines_.clear();
  }
  std::string name() const override { return "a test's"; }

 private:
  Lines& lines_;
  const std::optional<LedgerRecord::Kind> last_;
  bool dead_ = false;
};

}  // namespace tailrace::impl
