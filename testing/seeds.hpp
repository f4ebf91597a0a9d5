// for_seeds: seeds for random tests: many random ones, or the one that TAILRACE_SEED names, to repeat a failure.
//
// It prints each seed before the run, so that one that ends in an abort is known, too.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

#include "testing/dice.hpp"

namespace tailrace::impl {

// Calls `run(seed)` for `count` consecutive seeds, until one fails; or for TAILRACE_SEED alone.
template <class Run>
void for_seeds(int count, Run run) {
  const char* given = std::getenv("TAILRACE_SEED");
  const uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  if (given != nullptr) count = 1;
  // On a line of its own: if ctest stops a test after its limit, it shows only whole lines.
  std::cout << "TAILRACE_SEED=" << first << " and those after it:" << std::endl;
  for (int i = 0; i < count; ++i) {
    const uint64_t seed = first + static_cast<uint64_t>(i);
    std::cout << ' ' << seed << std::flush;
    SCOPED_TRACE("repeat with TAILRACE_SEED=" + std::to_string(seed));
    run(seed);
    if (::testing::Test::HasFailure()) break;
  }
  std::cout << std::endl;
}

}  // namespace tailrace::impl
