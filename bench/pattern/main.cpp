// pattern: the program. One process is one run, so that peak memory and caches belong to that run alone. Exit codes:
// 0 success, 1 the run failed, 2 wrong command line.
#include <cstdio>
#include <exception>
#include <new>

#include "bench/pattern/calibrate.hpp"
#include "bench/pattern/errors.hpp"
#include "bench/pattern/interruption.hpp"
#include "bench/pattern/measure.hpp"
#include "bench/pattern/options.hpp"
#include "bench/pattern/run.hpp"

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
  try {
    const bench::Options options = bench::parse_options(argc, argv);
    bench::catch_interruptions();
    const std::string document = carry_out(options);
    if (std::fputs(document.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
    std::fprintf(stderr, "pattern: cannot write to standard output\n");
  } catch (const bench::UsageError& error) {
    std::fprintf(stderr, "pattern: %s\n", error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "pattern: not enough memory for these sizes\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "pattern: %s\n", error.what());
  }
  return 1;
}
