#include "filter/shuffle.hpp"

#include <algorithm>
#include <cstring>

#include "base/assert.hpp"

namespace tailrace::impl {
namespace {

// Elements that are moved at a time: their bytes stay in the nearest cache while they are gone through again.
constexpr size_t kTile = 1024;

// The size of an element is known to the compiler, which makes byte shuffles of the inner loops.
template <size_t Element>
void shuffle_of(const std::byte* from, size_t count, std::byte* to) {
  for (size_t begin = 0; begin < count; begin += kTile) {
    const size_t end = std::min(count, begin + kTile);
    for (size_t byte = 0; byte < Element; ++byte) {
      std::byte* const plane = to + byte * count;
      for (size_t i = begin; i < end; ++i) plane[i] = from[i * Element + byte];
    }
  }
}

template <size_t Element>
void unshuffle_of(const std::byte* from, size_t count, std::byte* to) {
  for (size_t begin = 0; begin < count; begin += kTile) {
    const size_t end = std::min(count, begin + kTile);
    for (size_t i = begin; i < end; ++i) {
      for (size_t byte = 0; byte < Element; ++byte) to[i * Element + byte] = from[byte * count + i];
    }
  }
}

void check(std::span<const std::byte> from, size_t element, std::span<std::byte> to) {
  TAILRACE_REQUIRE(element > 0);
  TAILRACE_REQUIRE(from.size() == to.size());
  TAILRACE_REQUIRE(from.size() % element == 0);
}

}  // namespace

void shuffle(std::span<const std::byte> from, size_t element, std::span<std::byte> to) {
  check(from, element, to);
  const size_t count = from.size() / element;
  switch (element) {
    case 1: return shuffle_of<1>(from.data(), count, to.data());
    case 2: return shuffle_of<2>(from.data(), count, to.data());
    case 4: return shuffle_of<4>(from.data(), count, to.data());
    case 8: return shuffle_of<8>(from.data(), count, to.data());
    case 12: return shuffle_of<12>(from.data(), count, to.data());
    case 16: return shuffle_of<16>(from.data(), count, to.data());
  }
  TAILRACE_ASSERT(false);  // no element type has another size
}

void unshuffle(std::span<const std::byte> from, size_t element, std::span<std::byte> to) {
  check(from, element, to);
  const size_t count = from.size() / element;
  switch (element) {
    case 1: return unshuffle_of<1>(from.data(), count, to.data());
    case 2: return unshuffle_of<2>(from.data(), count, to.data());
    case 4: return unshuffle_of<4>(from.data(), count, to.data());
    case 8: return unshuffle_of<8>(from.data(), count, to.data());
    case 12: return unshuffle_of<12>(from.data(), count, to.data());
    case 16: return unshuffle_of<16>(from.data(), count, to.data());
  }
  TAILRACE_ASSERT(false);  // no element type has another size
}

}  // namespace tailrace::impl
