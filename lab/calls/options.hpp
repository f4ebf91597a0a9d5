// The command-line options of every benchmark.
#pragma once

#include <string>

namespace bench {

struct Options {
  bool tiny = false;              // runs only seconds, to check that it works; measures nothing
  std::string dir = "out/bench";  // directory for files: on the storage to be measured
  std::string json;               // file for the figures; empty: none
};

// Parses --tiny, --dir DIR, --json FILE and --help; anything else ends the program with a message and code 2.
Options parse(int argc, char** argv, const char* what);

}  // namespace bench
