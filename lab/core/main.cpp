// core_bench: the program behind `tailrace bench core` and `tailrace bench jitter`. One process tree is one
// measurement. Exit codes: 0 success, 1 failure, 2 wrong command line.
#include "lab/core/calls.hpp"
#include "lab/core/copy.hpp"
#include "lab/core/opening.hpp"
#include "lab/core/options.hpp"
#include "lab/core/run.hpp"
#include "lab/core/verify.hpp"
#include "lab/pattern/document_main.hpp"

namespace {

// Returns the requested document.
std::string carry_out(const bench::core::Options& options) {
  if (options.copy) return copy(*options.copy);
  if (options.calls) return calls(*options.calls);
  if (options.run) return run(*options.run);
  if (options.opening) return opening(*options.opening);
  if (options.verify) return verify(*options.verify);
  return "";  // --help
}

}  // namespace

int main(int argc, char** argv) {
  return bench::document_main("core_bench", [&] { return carry_out(bench::core::parse_options(argc, argv)); });
}
