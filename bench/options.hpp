// The options that every benchmark has on its command line.
#pragma once

#include <string>

namespace bench {

struct Options {
  bool tiny = false;              // seconds only: shows that it runs, measures nothing
  std::string dir = "out/bench";  // where files go: on the storage to be measured
};

// Knows --tiny, --dir DIR and --help; anything else ends the program with a message and code 2.
Options parse(int argc, char** argv, const char* what);

}  // namespace bench
