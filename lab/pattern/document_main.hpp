// document_main: the main() of the bench programs: it prints one document, or says why there is none.
#pragma once

#include <cstdio>
#include <exception>
#include <new>
#include <string>

#include "lab/pattern/errors.hpp"

namespace bench {

// Prints what `make` returns: a document, or "" after --help. Returns the exit code: 0 success, 1 failure, 2 wrong
// command line.
template <class Make>
int document_main(const char* program, const Make& make) {
  try {
    const std::string document = make();
    if (std::fputs(document.c_str(), stdout) >= 0 && std::fflush(stdout) == 0) return 0;
    std::fprintf(stderr, "%s: cannot write to standard output\n", program);
  } catch (const UsageError& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
    return 2;
  } catch (const std::bad_alloc&) {
    std::fprintf(stderr, "%s: not enough memory for these sizes\n", program);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", program, error.what());
  }
  return 1;
}

}  // namespace bench
