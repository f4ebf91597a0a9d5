// pattern: the program. One process is one run, so that peak memory and caches belong to that run alone. Exit codes:
// 0 success, 1 the run failed, 2 wrong command line.
#include "lab/pattern/calibrate.hpp"
#include "lab/pattern/document_main.hpp"
#include "lab/pattern/interruption.hpp"
#include "lab/pattern/measure.hpp"
#include "lab/pattern/options.hpp"
#include "lab/pattern/run.hpp"

namespace {

// Returns the requested document.
std::string carry_out(const bench::Options& options) {
  if (options.run) return json_of(*options.run, bench::run(*options.run));
  if (options.calibrate) return json_of(*options.calibrate, bench::calibrate(*options.calibrate));
  if (options.measure) return json_of(*options.measure, bench::measure(*options.measure));
  return "";  // --help
}

}  // namespace

int main(int argc, char** argv) {
  return bench::document_main("pattern", [&] {
    const bench::Options options = bench::parse_options(argc, argv);
    bench::catch_interruptions();
    return carry_out(options);
  });
}
