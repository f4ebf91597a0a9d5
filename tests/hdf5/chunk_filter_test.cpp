// The filters that the HDF5 connector applies beside the program: their codecs keep the port's contract, and a chunk
// for which one fails stays unchanged.
#include "hdf5_vol/filters/chunk_filter.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "filter/codecs/fletcher32.hpp"
#include "filter/codecs/shuffle.hpp"
#include "hdf5_vol/filters/chunk_codecs.hpp"
#include "tests/filter/codec_contract.hpp"

namespace tailrace::hdf5 {
namespace {

using impl::Dice;
using Kind = ChunkFilter::Kind;
using Bytes = std::vector<std::byte>;

constexpr size_t kChecksum = 4;

const ChunkFilter kShuffle{Kind::shuffle, {8}};
const ChunkFilter kChecked{Kind::fletcher32, {}};
const ChunkFilter kDeflate{Kind::deflate, {4}};
const ChunkFilter kZstd{Kind::zstd, {3}};
const ChunkFilter kLzf{Kind::lzf, {}};
const ChunkFilter kBlosc{Kind::blosc, {2, 2, 8, 0, 5, 1, 1}};  // lz4, shuffled
const ChunkFilter kSzip{Kind::szip, {141, 32, 64, 256}};       // as HDF5 has it for numbers of 8 bytes

ByteBuffer buffer_of(const Bytes& bytes, size_t more) {
  ByteBuffer buffer(bytes.size() + more);
  std::copy(bytes.begin(), bytes.end(), buffer.data());
  buffer.set_size(bytes.size());
  return buffer;
}

Bytes copy_of(const ByteBuffer& buffer) { return {buffer.data(), buffer.data() + buffer.size()}; }

// Restores `stored` to `size` bytes, as a reader does.
Bytes undone(const std::vector<ChunkFilter>& filters, Bytes stored, size_t size) {
  FilterMemory memory;
  for (size_t i = filters.size(); i-- > 0;) {
    if (filters[i].kind == Kind::fletcher32) {
      uint32_t checksum = 0;
      for (size_t byte = 0; byte < kChecksum; ++byte) {
        checksum |= static_cast<uint32_t>(stored[stored.size() - kChecksum + byte]) << 8 * byte;
      }
      stored.resize(stored.size() - kChecksum);
      EXPECT_EQ(checksum, impl::fletcher32(stored));
      continue;
    }
    const bool checked_before = i > 0 && filters[0].kind == Kind::fletcher32;
    Bytes to(size + (checked_before ? kChecksum : 0));
    if (filters[i].kind == Kind::shuffle) {
      impl::unshuffle(stored, filters[i].values[0], to);
    } else {
      EXPECT_TRUE(codec_of(filters[i], memory).decompress(stored, to));
    }
    stored = to;
  }
  return stored;
}

TEST(ChunkFilter, CompressorsThatTheServerHasNotKeepTheContract) {
  for (const ChunkFilter& filter : {kLzf, kBlosc, kSzip}) {
    ASSERT_TRUE(can_compress(filter));
    EXPECT_TRUE(only_makes_smaller(filter.kind));
    FilterMemory memory;
    impl::check_codec(codec_of(filter, memory), false);
  }
}

TEST(ChunkFilter, SzipBeginsWithTheLengthLeastByteFirst) {
  Dice dice(4);
  const Bytes bytes = impl::dull_bytes(0x1234, dice);  // of 8 bytes
  FilterMemory memory;
  impl::Codec& codec = codec_of(kSzip, memory);
  const Bytes stream = impl::compressed(codec, bytes, codec.room_for(bytes.size()));
  ASSERT_GT(stream.size(), 4u);
  const Bytes expected{std::byte{0xa0}, std::byte{0x91}, std::byte{0}, std::byte{0}};
  EXPECT_EQ(Bytes(stream.begin(), stream.begin() + 4), expected);
}

TEST(ChunkFilter, WhatIsFilteredComesBack) {
  for (const ChunkFilter& compressor : {kDeflate, kZstd, kLzf, kBlosc, kSzip}) {
    for (const std::vector<ChunkFilter>& filters : std::vector<std::vector<ChunkFilter>>{
             {compressor}, {kShuffle, compressor}, {kShuffle, compressor, kChecked}, {compressor, kChecked}}) {
      for (const size_t more : {size_t{0}, size_t{64}}) {
        Dice dice(filters.size());
        const Bytes bytes = impl::dull_bytes(4096, dice);
        FilterMemory memory;
        ByteBuffer buffer = buffer_of(bytes, more);
        ASSERT_TRUE(filter_chunk(filters, buffer, memory));
        EXPECT_LT(buffer.size(), bytes.size());
        EXPECT_EQ(undone(filters, copy_of(buffer), bytes.size()), bytes);
      }
    }
  }
}

TEST(ChunkFilter, NoiseGrowsALittleWhereHdf5LetsIt) {
  for (const ChunkFilter& compressor : {kDeflate, kZstd}) {
    Dice dice(5);
    const Bytes bytes = impl::noise(30'000, dice);
    const std::vector<ChunkFilter> filters{kShuffle, compressor, kChecked};
    FilterMemory memory;
    ByteBuffer buffer = buffer_of(bytes, 0);
    ASSERT_TRUE(filter_chunk(filters, buffer, memory));
    EXPECT_GT(buffer.size(), bytes.size());
    EXPECT_EQ(undone(filters, copy_of(buffer), bytes.size()), bytes);
    EXPECT_EQ(size_if_left_out(filters, bytes.size()), 0u);
  }
}

TEST(ChunkFilter, NoiseIsWhatItWasWhereTheCompressorFails) {
  for (const ChunkFilter& compressor : {kLzf, kBlosc, kSzip}) {
    Dice dice(6);
    const Bytes bytes = impl::noise(30'000, dice);
    const std::vector<ChunkFilter> filters{kChecked, kShuffle, compressor};
    FilterMemory memory;
    ByteBuffer buffer = buffer_of(bytes, 0);
    EXPECT_FALSE(filter_chunk(filters, buffer, memory));
    EXPECT_EQ(copy_of(buffer), bytes);
    EXPECT_EQ(size_if_left_out(filters, bytes.size()), bytes.size() + kChecksum);
  }
}

// Once there is room for what filters add, a thread's chunks circulate in the same memory.
TEST(ChunkFilter, NoMemoryIsTakenForFurtherChunks) {
  for (const ChunkFilter& compressor : {kDeflate, kZstd, kLzf, kBlosc, kSzip}) {
    FilterMemory memory;
    ByteBuffer buffer(40'000);
    std::set<const std::byte*> seen;
    std::set<const impl::Codec*> codecs;
    for (unsigned chunk = 0; chunk < 10; ++chunk) {
      Dice dice(chunk);
      const Bytes bytes = impl::dull_bytes(4096, dice);
      std::copy(bytes.begin(), bytes.end(), buffer.data());
      buffer.set_size(bytes.size());
      ASSERT_TRUE(filter_chunk({kShuffle, compressor, kChecked}, buffer, memory));
      seen.insert(buffer.data());
      seen.insert(memory.bytes.data());
      codecs.insert(&codec_of(compressor, memory));
    }
    EXPECT_EQ(seen.size(), 2u);
    EXPECT_EQ(codecs.size(), 1u);
  }
}

TEST(ChunkFilter, LevelsAreThoseThatAreAskedFor) {
  FilterMemory memory;
  for (const unsigned level : {1u, 9u, 1u}) {
    codec_of({Kind::deflate, {level}}, memory);
    EXPECT_EQ(memory.deflate->level(), static_cast<int>(level));
  }
  // Invalid levels, as HDF5's filter handles them.
  codec_of({Kind::zstd, {0}}, memory);
  EXPECT_EQ(memory.zstd->level(), 1);
  codec_of({Kind::zstd, {1000}}, memory);
  EXPECT_EQ(memory.zstd->level(), impl::Zstd::highest_level());
  codec_of({Kind::zstd, {~0u}}, memory);
  EXPECT_EQ(memory.zstd->level(), 1);
}

TEST(ChunkFilter, ACompressorThatIsNotThereIsNoticed) {
  ChunkFilter filter = kBlosc;
  filter.values[6] = 99;
  EXPECT_FALSE(can_compress(filter));
}

}  // namespace
}  // namespace tailrace::hdf5
