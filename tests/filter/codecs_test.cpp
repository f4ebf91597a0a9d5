// The codecs that the server and the HDF5 connector share.
#include <gtest/gtest.h>

#include "filter/codecs/deflate.hpp"
#include "filter/codecs/zstd.hpp"
#include "tests/filter/codec_contract.hpp"

namespace tailrace::impl {
namespace {

TEST(Codecs, DeflateKeepsTheContract) {
  for (const int level : {1, 6, 9}) {
    Deflate codec(level);
    EXPECT_EQ(codec.level(), level);
    check_codec(codec, true);
  }
}

TEST(Codecs, ZstdKeepsTheContract) {
  for (const int level : {-5, 1, 3, 9}) {
    Zstd codec(level);
    EXPECT_EQ(codec.level(), level);
    check_codec(codec, true);
  }
}

TEST(Codecs, LevelZeroOfDeflateStores) {
  Dice dice(1);
  const std::vector<std::byte> bytes = dull_bytes(1000, dice);
  Deflate codec(0);
  const std::vector<std::byte> stream = compressed(codec, bytes, codec.room_for(bytes.size()));
  EXPECT_GT(stream.size(), bytes.size());
  expect_back(codec, stream, bytes);
}

TEST(Codecs, LevelsDiffer) {
  EXPECT_GE(Zstd::highest_level(), 19);
  Dice dice(2);
  const std::vector<std::byte> bytes = dull_bytes(20'000, dice);
  Zstd fast(-5);
  Zstd thorough(Zstd::highest_level());
  EXPECT_LT(compressed(thorough, bytes, bytes.size()).size(), compressed(fast, bytes, bytes.size()).size());
}

// A codec's output depends neither on earlier output nor on unused room.
TEST(Codecs, WorkMemoryAndRoomDoNotShow) {
  Dice dice(3);
  const std::vector<std::byte> bytes = dull_bytes(3000, dice);
  const std::vector<std::byte> other = noise(50'000, dice);
  Zstd used(3);
  Deflate also_used(4);
  for (Codec* codec : {static_cast<Codec*>(&used), static_cast<Codec*>(&also_used)}) {
    const std::vector<std::byte> first = compressed(*codec, bytes, codec->room_for(bytes.size()));
    (void)compressed(*codec, other, codec->room_for(other.size()));
    (void)compressed(*codec, other, 10);
    EXPECT_EQ(compressed(*codec, bytes, codec->room_for(bytes.size())), first);
    EXPECT_EQ(compressed(*codec, bytes, codec->room_for(bytes.size()) + 100), first);
    EXPECT_EQ(compressed(*codec, bytes, first.size() + 100), first);
  }
}

}  // namespace
}  // namespace tailrace::impl
