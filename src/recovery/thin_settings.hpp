// thin_settings: which settings of parameters in a ledger matter to what follows them. Pure.
#pragma once

#include <vector>

#include "model/wire/core_wire.hpp"

namespace tailrace::impl {

// The records without the settings that others have replaced before a block or a read of their client came. What is
// left of them takes effect together, at that block or read, or at the end; settings of which the last has not come
// stay as they are.
std::vector<LedgerRecord> thin_settings(std::vector<LedgerRecord> records);

}  // namespace tailrace::impl
