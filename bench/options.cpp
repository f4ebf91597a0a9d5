#include "bench/options.hpp"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace bench {

Options parse(int argc, char** argv, const char* what) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    if (std::strcmp(argv[i], "--tiny") == 0) {
      options.tiny = true;
    } else if (std::strcmp(argv[i], "--dir") == 0 && i + 1 < argc) {
      options.dir = argv[++i];
    } else if (std::strcmp(argv[i], "--help") == 0) {
      std::printf(
          "%s\n\n  --tiny     runs only seconds, to check that it works; measures nothing\n"
          "  --dir DIR  directory for files, on the storage to measure (out/bench)\n",
          what);
      std::exit(0);
    } else {
      std::fprintf(stderr, "%s: found '%s', expected --tiny, --dir DIR or --help\n", argv[0], argv[i]);
      std::exit(2);
    }
  }
  return options;
}

}  // namespace bench
