// How the programs end: 0 success, 1 a failure, 2 wrong usage, as `tailrace` does.
#pragma once

#include <cstdio>

#include "base/status.hpp"

namespace tailrace::programs {

constexpr int kWrongUsage = 2;

// Prints the error. Returns the exit code.
inline int fail(const char* program, const impl::Status& status) {
  std::fprintf(stderr, "%s: %s\n", program, status.fault().message.c_str());
  return 1;
}

}  // namespace tailrace::programs
