// A run: clients that write the pieces of one pattern, all at once, each piece once. They begin together; the run
// ends when everything is on the device.
#pragma once

#include <string>

#include "lab/small/options.hpp"

namespace bench::small {

// Forks the clients, waits for them, checks the file, and returns the JSON document "small_run": 1. Throws RunError.
std::string run(const Options& options);

}  // namespace bench::small
