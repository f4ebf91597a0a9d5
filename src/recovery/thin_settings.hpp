// thin_settings: drops the settings of parameters in a ledger that no longer affect anything. Pure.
#pragma once

#include <vector>

#include "model/wire/core_wire.hpp"

namespace tailrace::impl {

// Returns true for an accepted setting of a parameter.
bool is_setting(const LedgerRecord& record);
// Returns the records without the settings that others replaced before a block or a read of their client came. The
// remaining settings take effect together, at that block or read, or at the end. Settings whose last one has not come
// stay as they are.
std::vector<LedgerRecord> thin_settings(const std::vector<LedgerRecord>& records);

}  // namespace tailrace::impl
