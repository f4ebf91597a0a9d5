// Measures `open`, and the first hand-over after it, beside later ones.
#pragma once

#include <string>

#include "lab/core/options.hpp"

namespace bench::core {

// Returns the JSON document "core_open": 1, with the seconds of the one open, and of each hand-over by `write`. The
// program computes before each. After each it waits until the block has left, so that each finds room, and the same
// part of the pool.
std::string opening(const OpeningOptions& options);

}  // namespace bench::core
