// Shuffle against a plain model: any size of elements, any remainder, any number of tiles.
#include "filter/codecs/shuffle.hpp"

#include <gtest/gtest.h>

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

using Bytes = std::vector<std::byte>;

Bytes model(const Bytes& from, size_t element) {
  Bytes to;
  const size_t count = from.size() / element;
  for (size_t byte = 0; byte < element; ++byte) {
    for (size_t i = 0; i < count; ++i) to.push_back(from[i * element + byte]);
  }
  to.insert(to.end(), from.begin() + static_cast<ptrdiff_t>(count * element), from.end());
  return to;
}

TEST(Shuffle, PutsBytesOfOneSignificanceTogether) {
  const auto bytes = [](std::string_view text) { return std::as_bytes(std::span(text)); };
  std::string to(9, ' ');
  const auto out = std::as_writable_bytes(std::span(to));
  for (const auto& [element, expected] : {std::pair(size_t{2}, "acegbdfh"), {4, "aebfcgdh"}, {8, "abcdefgh"}}) {
    shuffle(bytes("abcdefgh"), element, out.first(8));
    EXPECT_EQ(to.substr(0, 8), expected);
    std::string back(8, ' ');
    unshuffle(std::as_bytes(std::span(to)).first(8), element, std::as_writable_bytes(std::span(back)));
    EXPECT_EQ(back, "abcdefgh");
  }
}

TEST(Shuffle, DoesWhatAPlainModelDoes) {
  for_seeds(300, [](uint64_t seed) {
    Dice dice(seed);
    const size_t element = dice.chance(80) ? dice.between(1, 17) : dice.between(18, 200);
    Bytes from(dice.chance(80) ? dice.below(5000) : dice.below(60'000));
    for (std::byte& byte : from) byte = static_cast<std::byte>(dice.below(256));
    Bytes to(from.size());
    shuffle(from, element, to);
    EXPECT_EQ(to, model(from, element)) << element;
    Bytes back(from.size());
    unshuffle(to, element, back);
    EXPECT_EQ(back, from) << element;
  });
}

}  // namespace
}  // namespace tailrace::impl
