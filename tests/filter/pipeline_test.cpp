// The pipeline: filtered data come back, for all types, shapes and filters; what does not become smaller is stored
// unfiltered; and bytes that were never filtered are refused.
#include "filter/pipeline.hpp"

#include <gtest/gtest.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "testing/sample_config.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

using Bytes = std::vector<std::byte>;

const ElementType kTypes[] = {ElementType::int8, ElementType::int16, ElementType::float32, ElementType::float64,
                              ElementType::long_double};

struct Case {
  Config config;
  FilterPlan plan;
  Bytes block;
};

Case make_case(ElementType type, std::vector<uint64_t> shape, Compression compress, Precision precision) {
  Case made;
  made.config = sample_config({"out"}, {{"a", type, std::move(shape)}});
  made.config.variables[0].compress = compress;
  made.config.variables[0].precision = precision;
  made.plan = plan_of(made.config.variables[0], made.config.layouts[0]);
  made.block.resize(made.config.layouts[0].bytes());
  return made;
}

// Small whole numbers, so that they can be compressed and survive float16.
template <class Number>
void fill(Bytes& block, Dice& dice) {
  for (size_t i = 0; i < block.size(); i += sizeof(Number)) {
    const auto number = static_cast<Number>(dice.below(100));
    // The last bytes of a long double are not its value's.
    std::memcpy(&block[i], &number, std::is_same_v<Number, long double> ? 10 : sizeof number);
  }
}

void fill(Case& to, Dice& dice) {
  switch (to.plan.type) {
    case ElementType::int16: return fill<int16_t>(to.block, dice);
    case ElementType::float32: return fill<float>(to.block, dice);
    case ElementType::float64: return fill<double>(to.block, dice);
    case ElementType::long_double: return fill<long double>(to.block, dice);
    default: return fill<int8_t>(to.block, dice);
  }
}

// Filters and restores; returns the stored bytes.
uint64_t there_and_back(const Case& given) {
  ChunkFilter filter({&given.plan, 1});
  Bytes memory(given.plan.stored_chunk_bytes());
  Bytes back(given.block.size(), std::byte{0x5a});
  Loss loss;
  uint64_t stored = 0;
  for (uint64_t i = 0; i < given.plan.chunking.count(); ++i) {
    const FilteredChunk chunk = filter.apply(given.plan, given.block, i, memory, loss);
    EXPECT_LE(chunk.bytes, memory.size());
    stored += chunk.bytes;
    const Status status = filter.restore(given.plan, std::span(memory).first(chunk.bytes), chunk.skipped, i, back);
    EXPECT_TRUE(status.ok()) << status.fault().message;
  }
  EXPECT_EQ(back, given.block);
  EXPECT_EQ(loss.largest_error, 0);
  EXPECT_EQ(loss.overflowed, 0u);
  return stored;
}

Compression random_compression(Dice& dice) {
  Compression compress;
  compress.filter = static_cast<Compressor>(dice.below(3));
  compress.level = compress.filter == Compressor::none ? 0 : static_cast<int>(dice.between(1, 5));
  compress.shuffle = dice.chance(50);
  compress.chunk = dice.between(16, 20000);
  return compress;
}

TEST(Pipeline, WhatIsFilteredComesBack) {
  for_seeds(300, [](uint64_t seed) {
    Dice dice(seed);
    const ElementType type = kTypes[dice.below(std::size(kTypes))];
    std::vector<uint64_t> shape(dice.between(1, 4));
    for (uint64_t& extent : shape) extent = dice.between(1, 15);
    Compression compress = random_compression(dice);
    const bool half = is_floating(type) && dice.chance(50);
    if (compress.filter == Compressor::none && !half) compress.filter = Compressor::zstd;
    if (compress.level == 0 && compress.filter != Compressor::none) compress.level = 1;
    Case given = make_case(type, shape, compress, half ? Precision::float16 : Precision::full);
    fill(given, dice);
    there_and_back(given);
  });
}

// Returns the file's bytes for chunks that are written from their block.
TEST(Pipeline, PlainChunksCanBeStoredAsTheyLieInTheirBlock) {
  for_seeds(100, [](uint64_t seed) {
    Dice dice(seed);
    Compression compress = random_compression(dice);
    compress.filter = dice.chance(50) ? Compressor::zstd : Compressor::deflate;
    compress.level = 1;
    const bool half = dice.chance(20);
    Case given = make_case(ElementType::float32, {dice.between(1, 40), dice.between(1, 40)}, compress,
                           half ? Precision::float16 : Precision::full);
    fill(given, dice);
    ChunkFilter filter({&given.plan, 1});
    Bytes back(given.block.size(), std::byte{0x5a});
    uint64_t plain = 0;
    for (uint64_t i = 0; i < given.plan.chunking.count(); ++i) {
      const FilterPlan::Range range = given.plan.range(i);
      const auto bytes = std::span<const std::byte>(given.block).subspan(range.offset, range.length);
      const bool whole = range.length == given.plan.chunking.elements() * sizeof(float);
      EXPECT_EQ(given.plan.is_plain(i), whole && !half);
      if (!given.plan.is_plain(i)) continue;
      const FilteredChunk chunk = FilteredChunk::as_it_is(given.plan, Effort::skipped);
      ASSERT_EQ(chunk.bytes, bytes.size());
      EXPECT_TRUE(filter.restore(given.plan, bytes, chunk.skipped, i, back).ok());
      EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), back.begin() + static_cast<ptrdiff_t>(range.offset)));
      ++plain;
    }
    EXPECT_EQ(plain == 0, half);
  });
}

TEST(Pipeline, SmoothNumbersBecomeSmaller) {
  for (const Compressor compressor : {Compressor::deflate, Compressor::zstd}) {
    Case given = make_case(ElementType::float32, {100, 1000}, {compressor, 1, true, 1 << 16}, Precision::full);
    for (size_t i = 0; i < 100'000; ++i) {
      const float number = 1.0f + static_cast<float>(i) * 1e-6f;
      std::memcpy(&given.block[i * 4], &number, 4);
    }
    EXPECT_GT(given.plan.chunking.count(), 1u);
    EXPECT_LT(there_and_back(given), given.block.size() / 2) << name_of(compressor);
  }
}

TEST(Pipeline, NoiseIsStoredAsItIs) {
  for (const Compressor compressor : {Compressor::deflate, Compressor::zstd}) {
    Case given = make_case(ElementType::int32, {1000}, {compressor, 1, true, 1 << 20}, Precision::full);
    Dice dice(7);
    for (std::byte& byte : given.block) byte = static_cast<std::byte>(dice.below(256));
    ChunkFilter filter({&given.plan, 1});
    Bytes memory(given.plan.stored_chunk_bytes());
    Loss loss;
    const FilteredChunk chunk = filter.apply(given.plan, given.block, 0, memory, loss);
    EXPECT_EQ(chunk.bytes, 4000u);
    EXPECT_EQ(chunk.skipped, 3u) << "neither shuffled nor compressed";
    EXPECT_EQ(memory, given.block);
    EXPECT_EQ(there_and_back(given), 4000u);
  }
}

TEST(Pipeline, ChunksAtTheEdgeArePaddedWithZeros) {
  Case given = make_case(ElementType::float32, {7}, {Compressor::none, 0, true, 16}, Precision::float16);
  for (std::byte& byte : given.block) byte = std::byte{0x3f};
  ASSERT_EQ(given.plan.chunking.count(), 2u);
  ChunkFilter filter({&given.plan, 1});
  Bytes memory(8, std::byte{0x77});
  Loss loss;
  const FilteredChunk chunk = filter.apply(given.plan, given.block, 1, memory, loss);
  EXPECT_EQ(chunk.bytes, 8u);
  EXPECT_EQ(chunk.skipped, 0u);
  EXPECT_NE(memory[5], std::byte{0});
  EXPECT_EQ(memory[6], std::byte{0});
  EXPECT_EQ(memory[7], std::byte{0});
}

TEST(Pipeline, SingleBytesAreNotShuffled) {
  const Case given = make_case(ElementType::uint8, {7}, {Compressor::zstd, 3, true, 1 << 20}, Precision::full);
  EXPECT_FALSE(given.plan.shuffle);
  EXPECT_EQ(given.plan.filters(), 1u);
}

TEST(Pipeline, StreamsAreThoseOfTheLibraries) {
  Case given = make_case(ElementType::int64, {500}, {Compressor::deflate, 4, false, 1 << 20}, Precision::full);
  Dice dice(1);
  fill(given, dice);
  ChunkFilter deflate({&given.plan, 1});
  Bytes memory(4000);
  Bytes back(4000);
  Loss loss;
  FilteredChunk chunk = deflate.apply(given.plan, given.block, 0, memory, loss);
  uLongf length = 4000;
  EXPECT_EQ(uncompress(reinterpret_cast<Bytef*>(back.data()), &length, reinterpret_cast<const Bytef*>(memory.data()),
                       chunk.bytes),
            Z_OK);
  EXPECT_EQ(back, given.block);
  given.plan.compressor = Compressor::zstd;
  ChunkFilter zstd({&given.plan, 1});
  chunk = zstd.apply(given.plan, given.block, 0, memory, loss);
  EXPECT_EQ(ZSTD_getFrameContentSize(memory.data(), chunk.bytes), 4000u) << "readers take their memory by it";
  EXPECT_EQ(ZSTD_decompress(back.data(), back.size(), memory.data(), chunk.bytes), 4000u);
  EXPECT_EQ(back, given.block);
}

TEST(Pipeline, BytesThatNobodyFilteredAreRefused) {
  for (const Compressor compressor : {Compressor::deflate, Compressor::zstd}) {
    Case given = make_case(ElementType::int16, {3000}, {compressor, 1, true, 1 << 20}, Precision::full);
    Dice dice(3);
    fill(given, dice);
    ChunkFilter filter({&given.plan, 1});
    Bytes memory(given.plan.stored_chunk_bytes());
    Bytes back(given.block.size());
    Loss loss;
    const FilteredChunk chunk = filter.apply(given.plan, given.block, 0, memory, loss);
    const std::span<const std::byte> whole = std::span(memory).first(chunk.bytes);
    EXPECT_FALSE(filter.restore(given.plan, whole.first(whole.size() - 1), 0, 0, back).ok()) << "cut short";
    EXPECT_FALSE(filter.restore(given.plan, {}, 0, 0, back).ok()) << "empty";
    EXPECT_FALSE(filter.restore(given.plan, whole, 3, 0, back).ok()) << "not the size of a chunk";
    EXPECT_FALSE(filter.restore(given.plan, given.block, 0, 0, back).ok()) << "not compressed";
    EXPECT_TRUE(filter.restore(given.plan, whole, 0, 0, back).ok());
    for_seeds(200, [&](uint64_t seed) {
      Dice random(seed);
      Bytes broken(whole.begin(), whole.end());
      broken[random.below(broken.size())] ^= static_cast<std::byte>(random.between(1, 255));
      (void)filter.restore(given.plan, broken, 0, 0, back);  // may succeed, but must not crash
    });
  }
}

}  // namespace
}  // namespace tailrace::impl
