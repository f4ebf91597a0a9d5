// The limit: one process writes the same file as fast as it can, with everything in memory in the order of the file.
#pragma once

#include <cstdint>
#include <string>

#include "lab/small/options.hpp"

namespace bench::small {

struct Limit {
  double written = 0;  // seconds from the start
  double synced = 0;   // also from the start
  uint64_t transfers = 0;
  std::string description;
};

// Writes the file, which exists and is empty. Throws RunError.
Limit write_limit(const Options& options);

}  // namespace bench::small
