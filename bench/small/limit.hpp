// The limit: the same file, written by one process that has it all in memory in the order of the file, as fast as it
// can.
#pragma once

#include <cstdint>
#include <string>

#include "bench/small/options.hpp"

namespace bench::small {

struct Limit {
  double written = 0;  // seconds from the start
  double synced = 0;   // the same
  uint64_t transfers = 0;
  std::string description;
};

// The file is there, and empty. Throws RunError.
Limit write_limit(const Options& options);

}  // namespace bench::small
