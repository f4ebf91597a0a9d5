// LedgerStore: the port to where a ledger's lines are kept: somewhere that outlives the server, but need not outlive
// the node.
//
// A line is there whole or not at all. LedgerFile is the file in shared memory; the simulator has one of its own.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "base/status.hpp"
#include "model/wire/core_wire.hpp"

namespace tailrace::impl {

class LedgerStore {
 public:
  virtual ~LedgerStore() = default;
  // Returns the records of an earlier server, oldest first.
  virtual Result<std::vector<LedgerRecord>> read() = 0;
  virtual Status append(const LedgerRecord& record) = 0;
  // These take the place of all: whoever dies in between leaves the old ones or the new ones.
  virtual Status replace(std::span<const LedgerRecord> records) = 0;
  // There is nothing left to do for anybody.
  virtual void remove() = 0;
  virtual std::string name() const = 0;
};

}  // namespace tailrace::impl
