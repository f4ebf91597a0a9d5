// Fletcher32 against values calculated by hand, and against a plain model.
#include "filter/codecs/fletcher32.hpp"

#include <gtest/gtest.h>

#include <string_view>
#include <vector>

#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

uint32_t of_text(std::string_view text) { return fletcher32(std::as_bytes(std::span(text))); }

// Sums modulo 65535; 65535 itself stands for 0, except where all words are 0.
uint32_t model(const std::vector<std::byte>& bytes) {
  uint64_t sum = 0;
  uint64_t sum_of_sums = 0;
  bool some = false;
  for (size_t i = 0; i < bytes.size(); i += 2) {
    const uint64_t low = i + 1 < bytes.size() ? static_cast<uint64_t>(bytes[i + 1]) : 0;
    const uint64_t word = static_cast<uint64_t>(bytes[i]) << 8 | low;
    some |= word != 0;
    sum = (sum + word) % 65535;
    sum_of_sums = (sum_of_sums + sum) % 65535;
  }
  const auto shown = [some](uint64_t value) { return static_cast<uint32_t>(value == 0 && some ? 65535 : value); };
  return shown(sum_of_sums) << 16 | shown(sum);
}

TEST(Fletcher32, KnownValues) {
  EXPECT_EQ(of_text(""), 0u);
  EXPECT_EQ(of_text("ab"), 0x61626162u);
  EXPECT_EQ(of_text("abcde"), 0x4ff029c7u) << "0x6162 + 0x6364 + 0x6500, and their sums, with carries";
  EXPECT_EQ(of_text("\xff\xff"), 0xffffffffu) << "only 0 becomes 0";
}

TEST(Fletcher32, DoesWhatAPlainModelDoes) {
  for_seeds(100, [](uint64_t seed) {
    Dice dice(seed);
    std::vector<std::byte> bytes(dice.chance(80) ? dice.below(1000) : dice.below(300'000));
    const bool high = dice.chance(30);
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(high ? 255 : dice.below(256));
    EXPECT_EQ(fletcher32(bytes), model(bytes)) << bytes.size();
  });
}

}  // namespace
}  // namespace tailrace::impl
