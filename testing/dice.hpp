// Dice: random numbers for tests, all from one seed.
#pragma once

#include <cstdint>
#include <random>

namespace tailrace::impl {

class Dice {
 public:
  explicit Dice(uint64_t seed) : random_(seed) {}

  // Returns 0 … limit − 1.
  uint64_t below(uint64_t limit) { return random_() % limit; }
  // Returns low … high, both included.
  uint64_t between(uint64_t low, uint64_t high) { return low + below(high - low + 1); }
  bool chance(uint64_t percent) { return below(100) < percent; }

 private:
  std::mt19937_64 random_;
};

}  // namespace tailrace::impl
