#include "lab/calls/options.hpp"

#include <CLI/CLI.hpp>
#include <cstdlib>

namespace bench {

Options parse(int argc, char** argv, const char* what) {
  Options options;
  CLI::App app(what);
  app.add_flag("--tiny", options.tiny, "runs only seconds, to check that it works; measures nothing");
  app.add_option("--dir", options.dir, "directory for files, on the storage to measure (out/bench)");
  app.add_option("--json", options.json, "file for the figures, as JSON");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    std::exit(app.exit(error) == 0 ? 0 : 2);
  }
  return options;
}

}  // namespace bench
