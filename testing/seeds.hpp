// Seeds for random tests: many at random, or the one that TAILRACE_SEED names, to repeat a failure.
//
// Each seed is printed before it is used, so that one that ends in an abort is known too.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstdlib>
#include <iostream>
#include <random>
#include <string>

namespace tailrace::impl {

// Calls `run(seed)` for `count` seeds in a row, until one fails; or for TAILRACE_SEED alone.
template <class Run>
void for_seeds(int count, Run run) {
  const char* given = std::getenv("TAILRACE_SEED");
  const uint64_t first = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  if (given != nullptr) count = 1;
  std::cout << "TAILRACE_SEED:" << std::flush;
  for (int i = 0; i < count; ++i) {
    const uint64_t seed = first + static_cast<uint64_t>(i);
    std::cout << ' ' << seed << std::flush;
    SCOPED_TRACE("repeat with TAILRACE_SEED=" + std::to_string(seed));
    run(seed);
    if (::testing::Test::HasFailure()) break;
  }
  std::cout << std::endl;
}

// Random numbers as tests want them.
class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}

  // 0 … below − 1.
  uint64_t below(uint64_t limit) { return random_() % limit; }
  // low … high, both included.
  uint64_t between(uint64_t low, uint64_t high) { return low + below(high - low + 1); }
  bool chance(uint64_t percent) { return below(100) < percent; }

 private:
  std::mt19937_64 random_;
};

}  // namespace tailrace::impl
