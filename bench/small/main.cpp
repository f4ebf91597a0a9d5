// small_bench: the program behind `tailrace bench small`. One process tree is one measurement. Exit codes: 0 success,
// 1 failure, 2 wrong command line.
#include <cstdio>
#include <exception>

#include "bench/pattern/errors.hpp"
#include "bench/small/options.hpp"
#include "bench/small/run.hpp"

int main(int argc, char** argv) {
  try {
    const bench::small::Options options = bench::small::parse_options(argc, argv);
    const std::string document = options.asked ? bench::small::run(options) : "";
    if (std::fputs(document.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
    std::fprintf(stderr, "small_bench: cannot write to standard output\n");
  } catch (const bench::UsageError& error) {
    std::fprintf(stderr, "small_bench: %s\n", error.what());
    return 2;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "small_bench: %s\n", error.what());
  }
  return 1;
}
