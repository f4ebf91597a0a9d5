// Contribution: how much a process writes or reads in a collective access, and where in the file. All processes
// exchange theirs before they divide the work.
#pragma once

#include <cstdint>

namespace tailrace::collective {

struct Contribution {
  uint64_t begin = 0;   // offset of the first byte in the file
  uint64_t end = 0;     // offset behind the last byte
  uint64_t bytes = 0;   // of data; 0: this process has none
  uint64_t pieces = 0;  // contiguous parts of the file, or more
};

}  // namespace tailrace::collective
