// The options of small_bench's command line.
#pragma once

#include <cstdint>
#include <string>

#include "lab/small/access_pattern.h"

namespace bench::small {

enum class WayKind { limit, posix, thread, core };

struct Options {
  std::string dir;
  WayKind way = WayKind::core;
  access_pattern pattern{};
  uint64_t list = 1;   // pieces in a call, at most those of a collective call
  std::string merge;   // contents of the configuration's `merge: {…}`
  bool asked = false;  // there is something to run: no --help
};

// Throws bench::UsageError.
Options parse_options(int argc, char** argv);

const char* name_of(WayKind way);

}  // namespace bench::small
