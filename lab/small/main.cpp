// small_bench: the program behind `tailrace bench small`. One process tree is one measurement. Exit codes: 0 success,
// 1 failure, 2 wrong command line.
#include "lab/pattern/document_main.hpp"
#include "lab/small/options.hpp"
#include "lab/small/run.hpp"

int main(int argc, char** argv) {
  return bench::document_main("small_bench", [&] {
    const bench::small::Options options = bench::small::parse_options(argc, argv);
    return options.asked ? bench::small::run(options) : "";
  });
}
