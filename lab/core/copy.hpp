// Measures `write` in place core, beside a memcpy of the same bytes into private and into shared memory.
#pragma once

#include <string>

#include "lab/core/options.hpp"

namespace bench::core {

// Returns the JSON document "core_copy": 1, with the seconds of each round. The target memory was touched, and each
// call finds room, so the times are of the hand-over.
std::string copy(const CopyOptions& options);

}  // namespace bench::core
