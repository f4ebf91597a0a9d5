#include "filter/codecs/shuffle.hpp"

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace tailrace::impl {
namespace {

// Elements moved at a time: their bytes stay in the nearest cache between the passes.
constexpr size_t kTile = 1024;

template <size_t bytes>
using Known = std::integral_constant<size_t, bytes>;

// Calls `move` with the size of an element; for sizes of numbers, as a compile-time constant, so that the compiler
// turns the inner loops into byte shuffles.
template <class Move>
void with_element(size_t element, const Move& move) {
  switch (element) {
    case 1: return move(Known<1>());
    case 2: return move(Known<2>());
    case 4: return move(Known<4>());
    case 8: return move(Known<8>());
    case 12: return move(Known<12>());
    case 16: return move(Known<16>());
    default: return move(element);
  }
}

template <class Element>
void shuffle_by(Element element, const std::byte* from, size_t count, std::byte* to) {
  for (size_t begin = 0; begin < count; begin += kTile) {
    const size_t end = std::min(count, begin + kTile);
    for (size_t byte = 0; byte < element; ++byte) {
      std::byte* const plane = to + byte * count;
      for (size_t i = begin; i < end; ++i) plane[i] = from[i * element + byte];
    }
  }
}

template <class Element>
void unshuffle_by(Element element, const std::byte* from, size_t count, std::byte* to) {
  for (size_t begin = 0; begin < count; begin += kTile) {
    const size_t end = std::min(count, begin + kTile);
    for (size_t i = begin; i < end; ++i) {
      for (size_t byte = 0; byte < element; ++byte) to[i * element + byte] = from[byte * count + i];
    }
  }
}

void copy_rest(std::span<const std::byte> from, size_t element, std::span<std::byte> to) {
  const size_t rest = from.size() % element;
  std::copy(from.end() - static_cast<ptrdiff_t>(rest), from.end(), to.end() - static_cast<ptrdiff_t>(rest));
}

}  // namespace

void shuffle(std::span<const std::byte> from, size_t element, std::span<std::byte> to) {
  const size_t count = from.size() / element;
  with_element(element, [&](auto size) { shuffle_by(size, from.data(), count, to.data()); });
  copy_rest(from, element, to);
}

void unshuffle(std::span<const std::byte> from, size_t element, std::span<std::byte> to) {
  const size_t count = from.size() / element;
  with_element(element, [&](auto size) { unshuffle_by(size, from.data(), count, to.data()); });
  copy_rest(from, element, to);
}

}  // namespace tailrace::impl
