// A run: clients that write the pieces of one pattern, all at once, each once. They begin together; the run has ended
// when all is on the device.
#pragma once

#include <string>

#include "bench/small/options.hpp"

namespace bench::small {

// Forks the clients, waits for them, looks whether the file is as it must be; the JSON document, "small_run": 1.
// Throws RunError.
std::string run(const Options& options);

}  // namespace bench::small
