// The options of small_bench's command line.
#pragma once

#include <cstdint>
#include <string>

#include "bench/small/access_pattern.h"

namespace bench::small {

enum class WayKind { limit, posix, thread, core };

struct Options {
  std::string dir;
  WayKind way = WayKind::core;
  access_pattern pattern{};
  uint64_t list = 1;   // pieces of a call, of as many as a collective call would have at most
  std::string merge;   // of the configuration: what `merge: {…}` has
  bool asked = false;  // there is something to run: it was not --help
};

// Throws bench::UsageError.
Options parse_options(int argc, char** argv);

const char* name_of(WayKind way);

}  // namespace bench::small
