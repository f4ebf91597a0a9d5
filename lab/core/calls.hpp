// Measures the calls that copy nothing in place core: alloc, commit and signal, while the server sleeps and while it
// is busy with filters and transfers; and the cost of waking any thread, in turn with calls that find the server
// asleep.
#pragma once

#include <string>

#include "lab/core/options.hpp"

namespace bench::core {

// Returns the JSON document "core_calls": 1, with the seconds of each call.
std::string calls(const CallsOptions& options);

}  // namespace bench::core
