// Sieves against a plain model: the bytes of a file, which are read and written through them.
#include "bindings/process_client/bytes/sieve.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <vector>

#include "testing/dice.hpp"
#include "testing/seeds.hpp"

namespace tailrace::process {
namespace {

// A file of one dataset, and how often it is read.
class Rig {
 public:
  explicit Rig(uint64_t bytes) : file_(bytes) {
    for (uint64_t at = 0; at < bytes; ++at) file_[at] = static_cast<std::byte>(at % 251);
  }

  Sieves sieves;
  uint64_t reads = 0;
  uint64_t bytes_read = 0;

  // Returns true if the bytes are those of the file.
  bool read(const tailrace_extent& bytes) {
    Sieve& sieve = sieves.of(0);
    const std::byte* found = sieve.find(bytes);
    if (found == nullptr) found = read_more(sieve, bytes);
    return std::memcmp(found, file_.data() + bytes.offset, bytes.length) == 0;
  }
  void write(const std::vector<tailrace_extent>& extents, const std::vector<std::byte>& data) {
    write_past(extents, data);
    sieves.overwrite(extents, data.data());
  }
  void write_past(const std::vector<tailrace_extent>& extents, const std::vector<std::byte>& data) {
    const std::byte* from = data.data();
    for (const tailrace_extent& extent : extents) {
      std::copy(from, from + extent.length, file_.data() + extent.offset);
      from += extent.length;
    }
  }

 private:
  const std::byte* read_more(Sieve& sieve, const tailrace_extent& bytes) {
    const std::optional<tailrace_extent> wanted = sieve.wanted(bytes, file_.size());
    ++reads;
    bytes_read += wanted ? wanted->length : bytes.length;
    if (!wanted) return file_.data() + bytes.offset;
    EXPECT_EQ(wanted->offset, bytes.offset);
    EXPECT_GE(wanted->length, bytes.length);
    EXPECT_LE(wanted->offset + wanted->length, file_.size());
    std::copy_n(file_.data() + wanted->offset, wanted->length, sieve.room(wanted->length));
    sieve.filled(wanted->offset, wanted->length);
    return sieve.find(bytes);
  }

  std::vector<std::byte> file_;
};

std::vector<std::byte> some_bytes(impl::Dice& dice, uint64_t count) {
  std::vector<std::byte> bytes(count);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(dice.below(256));
  return bytes;
}

// Writes one to three extents, in whichever order, which may overlap.
void write_some(Rig& rig, impl::Dice& dice, uint64_t size, bool past) {
  std::vector<tailrace_extent> extents;
  uint64_t bytes = 0;
  for (uint64_t i = dice.between(1, 3); i > 0; --i) {
    const uint64_t begin = dice.below(size);
    extents.push_back({begin, dice.between(1, std::min<uint64_t>(size - begin, 3000))});
    bytes += extents.back().length;
  }
  const std::vector<std::byte> data = some_bytes(dice, bytes);
  past ? rig.write_past(extents, data) : rig.write(extents, data);
}

TEST(Sieves, HoldWhatAReadWouldReturn) {
  impl::for_seeds(100, [](uint64_t seed) {
    impl::Dice dice(seed);
    const uint64_t size = dice.between(1, 200000);
    Rig rig(size);
    uint64_t next = 0;
    for (int step = 0; step < 500; ++step) {
      if (dice.chance(10)) next = dice.below(size);
      if (next >= size) next = 0;
      const uint64_t length = dice.between(1, std::min<uint64_t>(size - next, 1000));
      ASSERT_TRUE(rig.read({next, length})) << next << ", " << length;
      next += length + (dice.chance(20) ? dice.below(2000) : 0);
      if (dice.chance(20)) write_some(rig, dice, size, false);
      if (dice.chance(3)) {
        write_some(rig, dice, size, true);
        const uint64_t how = dice.below(3);
        if (how == 0) Sieves::forget_all();
        if (how == 1) rig.sieves.forget();
        if (how == 2) rig.sieves.forget(0);
      }
    }
  });
}

TEST(Sieves, ReadRowsInARowAtOnce) {
  constexpr uint64_t kRow = 512;
  constexpr uint64_t kRows = 2048;
  Rig rig(kRow * kRows);
  for (uint64_t row = 0; row < kRows; ++row) ASSERT_TRUE(rig.read({row * kRow, kRow}));
  EXPECT_LT(rig.reads, kRows / 80);
  EXPECT_EQ(rig.bytes_read, kRow * kRows);
}

TEST(Sieves, AlsoRowsWithGapsBetweenThem) {
  constexpr uint64_t kRow = 512;
  constexpr uint64_t kRows = 2048;
  Rig rig(kRow * kRows);
  for (uint64_t row = 0; row < kRows; row += 4) ASSERT_TRUE(rig.read({row * kRow, kRow}));
  EXPECT_LT(rig.reads, kRows / 80);
}

TEST(Sieves, ReadNothingMoreForReadsInNoOrder) {
  constexpr uint64_t kRow = 512;
  constexpr uint64_t kRows = 2048;
  Rig rig(kRow * kRows);
  for (uint64_t i = 0; i < kRows; ++i) ASSERT_TRUE(rig.read({i * 797 % kRows * kRow, kRow}));
  EXPECT_EQ(rig.reads, kRows);
  EXPECT_EQ(rig.bytes_read, kRow * kRows);
}

TEST(Sieves, LeaveTheFirstReadToTheCaller) {
  Sieves sieves;
  EXPECT_FALSE(sieves.of(0).wanted({4096, 512}, 100000).has_value()) << "most datasets are read once";
  const std::optional<tailrace_extent> second = sieves.of(0).wanted({512, 512}, 100000);
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->length, 512u);
}

TEST(Sieves, ReadLittleInVainWhereTheyAreForgottenAgainAndAgain) {
  constexpr uint64_t kRow = 512;
  constexpr uint64_t kRows = 2048;
  Rig rig(kRow * kRows);
  for (uint64_t row = 0; row < kRows; ++row) {
    ASSERT_TRUE(rig.read({row * kRow, kRow}));
    Sieves::forget_all();
  }
  EXPECT_LE(rig.bytes_read, 2 * kRow * kRows);
}

TEST(Sieves, AreOfEachDatasetAndBounded) {
  Sieves sieves;
  const auto fill = [&sieves](uint64_t dataset) {
    Sieve& sieve = sieves.of(dataset);
    std::fill_n(sieve.room(8), 8, static_cast<std::byte>(dataset / 100));
    sieve.filled(dataset, 8);
  };
  for (uint64_t number = 1; number <= 16; ++number) fill(100 * number);
  for (uint64_t number = 1; number <= 16; ++number) {
    const std::byte* const found = sieves.of(100 * number).find({100 * number, 8});
    ASSERT_NE(found, nullptr) << number;
    EXPECT_EQ(*found, static_cast<std::byte>(number));
  }
  fill(1700);
  EXPECT_EQ(sieves.of(100).find({100, 8}), nullptr) << "more than the limit";
  sieves.forget(1700);
  EXPECT_EQ(sieves.of(1700).find({1700, 8}), nullptr);
  EXPECT_NE(sieves.of(1600).find({1600, 8}), nullptr);
  Sieves::forget_all();
  EXPECT_EQ(sieves.of(1600).find({1600, 8}), nullptr);
}

}  // namespace
}  // namespace tailrace::process
