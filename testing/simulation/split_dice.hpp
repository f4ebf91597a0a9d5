// SplitDice: random numbers of one seed in independent streams, one for each purpose.
//
// The stream "disk" of a seed gives the same numbers whether or not the stream "faults" is used. So parts of a
// failing seed can be left out, and the rest stays the same. It is cheap, and the same on every machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace tailrace::impl::simulation {

// Mixes all bits of `x` (the finaliser of splitmix64).
constexpr uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  x = (x ^ x >> 27) * 0x94d049bb133111ebu;
  return x ^ x >> 31;
}

class SplitDice {
 public:
  SplitDice(uint64_t seed, std::string_view stream, uint64_t number = 0) : state_(mixed(seed)) {
    for (const char letter : stream) state_ = mixed(state_ ^ static_cast<unsigned char>(letter));
    state_ = mixed(state_ ^ number);
  }

  uint64_t next() { return mixed(state_ += 0x9e3779b97f4a7c15u); }
  // Returns 0 … limit − 1.
  uint64_t below(uint64_t limit) { return next() % limit; }
  // Returns low … high, both included.
  uint64_t between(uint64_t low, uint64_t high) { return low + below(high - low + 1); }
  uint32_t between32(uint32_t low, uint32_t high) { return static_cast<uint32_t>(between(low, high)); }
  bool chance(uint64_t percent) { return below(100) < percent; }
  // Returns one of the values, all equally likely; repeat one to make it likelier.
  template <class T, size_t n>
  T one_of(const T (&values)[n]) {
    return values[below(n)];
  }

 private:
  uint64_t state_;
};

}  // namespace tailrace::impl::simulation
