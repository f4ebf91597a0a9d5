// tsunami: the program. Exit codes: 0 success, 1 the run failed, 2 the command line is wrong.
#include <cstdio>
#include <exception>
#include <new>

#include "crew.hpp"
#include "error.hpp"
#include "report.hpp"

namespace tsunami {
namespace {

void run_and_report(const Options& options, const Raster& coarse, Peers& peers) {
  const Result result = run(options, coarse, peers);
  if (peers.rank() == 0) report(options, result);
}

// Reads the bathymetry before it forks the processes: so it is read once, and its errors are reported once.
void launch(const Options& options) {
  const Raster coarse = read_bed(options);
  if (options.processes == 1) {
    Alone alone;
    run_and_report(options, coarse, alone);
    return;
  }
  CrewOptions crew;
  crew.processes = options.processes;
  crew.halo = needed_of_peers(options, coarse).halo;
  crew.gathered = needed_of_peers(options, coarse).gathered;
  crew.wait_limit = options.wait_limit;
  const CrewEnd end = run_crew(crew, [&](Peers& peers) { run_and_report(options, coarse, peers); });
  if (!end.good) throw Error(end.message);
}

}  // namespace
}  // namespace tsunami

int main(int argc, char** argv) {
  try {
    const tsunami::ParsedOptions parsed = [&]() -> tsunami::ParsedOptions {
      try {
        return tsunami::parse_options(argc, argv);
      } catch (const tsunami::Error& error) {
        std::fprintf(stderr, "tsunami: %s\n", error.what());
        return {std::nullopt, 2};
      }
    }();
    if (!parsed.options) return parsed.exit_code;
    tsunami::launch(*parsed.options);
    return 0;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "tsunami: not enough memory for this grid\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tsunami: %s\n", error.what());
  }
  return 1;
}
