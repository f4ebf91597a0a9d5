// tsunami: the program. Exit codes: 0 good, 1 the run failed, 2 the command line is wrong.
#include <cstdio>
#include <exception>
#include <new>

#include "error.hpp"
#include "report.hpp"

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
    const tsunami::Result result = tsunami::run(*parsed.options);
    if (!parsed.options->json.empty()) tsunami::write_json(*parsed.options, result);
    if (!parsed.options->quiet) tsunami::print_summary(*parsed.options, result);
    return 0;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "tsunami: not enough memory for this grid\n");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tsunami: %s\n", error.what());
  }
  return 1;
}
