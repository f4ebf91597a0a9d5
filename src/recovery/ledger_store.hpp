// LedgerStore: the port to the place where a ledger's lines are kept. It outlives the server, but need not outlive
// the node.
//
// A line is complete or absent. LedgerFile is a file in shared memory; the simulator has its own store.
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
  // Replaces all lines by these. If the process dies meanwhile, or if it fails, either the old or the new ones are
  // left.
  virtual Status replace(std::span<const LedgerRecord> records) = 0;
  // Appends the last line, of kind given_up, for which there is always room. Only replace() may follow.
  virtual void append_last(const LedgerRecord& record) = 0;
  // Removes the store. Call it when there is nothing left to do for any client.
  virtual void remove() = 0;
  virtual std::string name() const = 0;
};

}  // namespace tailrace::impl
