// The cost of `write` in place core, beside a memcpy of the same bytes into private and into shared memory.
#pragma once

#include <string>

#include "bench/core/options.hpp"

namespace bench::core {

// The JSON document, "core_copy": 1: seconds of each round. The memory that is copied to is touched, and each call
// finds room: what is timed is the hand-over.
std::string copy(const CopyOptions& options);

}  // namespace bench::core
