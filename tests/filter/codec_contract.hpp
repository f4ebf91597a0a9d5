// The contract of Codec, for every compressor: it restores the bytes, respects the room, and survives any input.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "filter/codecs/codec.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {

// Returns whole elements of 8 bytes, with few different values, which any compressor makes smaller.
inline std::vector<std::byte> dull_bytes(size_t elements, Dice& dice) {
  std::vector<std::byte> bytes(elements * 8, std::byte{0});
  for (size_t i = 0; i < bytes.size(); i += 8) bytes[i] = static_cast<std::byte>(dice.below(3));
  return bytes;
}

inline std::vector<std::byte> noise(size_t size, Dice& dice) {
  std::vector<std::byte> bytes(size);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(dice.below(256));
  return bytes;
}

// Compresses into exactly `room` bytes, behind which nothing may change. Returns an empty vector if it failed.
inline std::vector<std::byte> compressed(Codec& codec, std::span<const std::byte> from, size_t room) {
  std::vector<std::byte> to(room + 16, std::byte{0x5a});
  const size_t size = codec.compress(from, std::span(to).first(room));
  EXPECT_LE(size, room);
  EXPECT_TRUE(std::all_of(to.end() - 16, to.end(), [](std::byte byte) { return byte == std::byte{0x5a}; }));
  to.resize(size);
  return to;
}

inline void expect_back(Codec& codec, std::span<const std::byte> stream, const std::vector<std::byte>& bytes) {
  std::vector<std::byte> back(bytes.size(), std::byte{0x5a});
  EXPECT_TRUE(codec.decompress(stream, back));
  EXPECT_EQ(back, bytes);
}

// `lets_grow`: given the room, it also compresses bytes that do not get smaller.
inline void check_codec(Codec& codec, bool lets_grow) {
  constexpr int seeds = 30;
  for_seeds(seeds, [&](uint64_t seed) {
    Dice dice(seed);
    const std::vector<std::byte> bytes = dull_bytes(dice.between(64, 4000), dice);
    const std::vector<std::byte> stream = compressed(codec, bytes, codec.room_for(bytes.size()));
    ASSERT_FALSE(stream.empty());
    EXPECT_LT(stream.size(), bytes.size());
    expect_back(codec, stream, bytes);
    EXPECT_TRUE(compressed(codec, bytes, stream.size() / 2).empty()) << "they do not fit";
    EXPECT_TRUE(compressed(codec, bytes, 0).empty());

    std::vector<std::byte> back(bytes.size() + 8);
    EXPECT_FALSE(codec.decompress(stream, back)) << "there are not so many";
    EXPECT_FALSE(codec.decompress(stream, std::span(back).first(bytes.size() - 8))) << "there are more";
    EXPECT_FALSE(codec.decompress({}, std::span(back).first(bytes.size())));
    std::vector<std::byte> broken = stream;
    broken[dice.below(broken.size())] ^= static_cast<std::byte>(dice.between(1, 255));
    (void)codec.decompress(broken, std::span(back).first(bytes.size()));  // may succeed, but must not crash

    const std::vector<std::byte> random = noise(bytes.size(), dice);
    const std::vector<std::byte> grown = compressed(codec, random, codec.room_for(random.size()));
    EXPECT_EQ(!grown.empty(), lets_grow);
    if (!grown.empty()) expect_back(codec, grown, random);
  });
}

}  // namespace tailrace::impl
