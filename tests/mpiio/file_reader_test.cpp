// Reads of a process by itself: with data sieving and without, compared with the file; and what is read ahead.
#include "mpiio/transfer/file_reader.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <random>

namespace {

using tailrace::mpiio::FileReader;
using tailrace::mpiio::OwnDescriptor;
using tailrace::mpiio::ReadPattern;

// A file of random bytes, which vanishes at the end.
class RandomFile {
 public:
  RandomFile(std::mt19937_64& dice, size_t size) : bytes(size) {
    for (std::byte& byte : bytes) byte = std::byte(dice());
    const int descriptor = mkstemp(path_.data());
    EXPECT_EQ(::write(descriptor, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    ::close(descriptor);
  }
  ~RandomFile() { ::unlink(path_.c_str()); }
  RandomFile(const RandomFile&) = delete;
  RandomFile& operator=(const RandomFile&) = delete;

  const std::string& path() const { return path_; }

  std::vector<std::byte> bytes;

 private:
  std::string path_ = testing::TempDir() + "tailrace_XXXXXX";
};

TEST(FileReader, ReadsWhatTheFileHas) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 dice(seed);
  const RandomFile file(dice, 1'000'000);
  OwnDescriptor own;
  FileReader reader(own);
  ASSERT_EQ(own.open(file.path(), true, false), 0);
  const std::string other = file.path() + ".other";
  ASSERT_EQ(std::rename(file.path().c_str(), other.c_str()), 0) << "the name does not matter any more";
  std::ofstream(file.path()) << "another file";
  EXPECT_EQ(reader.size(), file.bytes.size());
  for (int round = 0; round < 200; ++round) {
    reader.set_sieve(dice() % 3 == 0 ? 0 : dice() % 300'000);
    std::vector<tailrace_extent> extents;
    std::vector<std::byte> expected;
    uint64_t at = dice() % 1'000'000;
    for (uint64_t i = 1 + dice() % 50; i > 0; --i) {
      const uint64_t length = 1 + dice() % 5000;
      extents.push_back({at, length});
      for (uint64_t j = at; j < at + length && j < file.bytes.size(); ++j) expected.push_back(file.bytes[j]);
      at += length + dice() % (dice() % 2 == 0 ? 100 : 40'000);
    }
    std::vector<std::byte> got(50 * 5000);
    const auto end = reader.read(extents, got.data());
    ASSERT_EQ(end.error, 0);
    ASSERT_EQ(end.bytes, expected.size());
    got.resize(expected.size());
    ASSERT_TRUE(got == expected);
    if (dice() % 10 == 0) reader.refresh();
  }
  ::unlink(other.c_str());
}

TEST(OwnDescriptor, KnowsAFileThatIsOpenAlready) {
  std::mt19937_64 dice(1);
  const RandomFile one(dice, 10);
  const RandomFile other(dice, 10);
  const int descriptor = ::open(one.path().c_str(), O_RDONLY);
  OwnDescriptor same;
  ASSERT_EQ(same.open(one.path(), true, true), 0);
  EXPECT_TRUE(same.has_twin());
  OwnDescriptor another;
  ASSERT_EQ(another.open(other.path(), true, false), 0);
  EXPECT_FALSE(another.has_twin()) << "as if its name had been given to another file";
  EXPECT_FALSE(another.key() == same.key());
  OwnDescriptor none;
  EXPECT_EQ(none.open(testing::TempDir() + "tailrace_no_such_file", true, false), ENOENT);
  ::close(descriptor);
}

std::vector<uint64_t> offsets(const std::vector<tailrace_extent>& extents) {
  std::vector<uint64_t> found;
  for (const tailrace_extent& extent : extents) {
    EXPECT_EQ(extent.length, 100u);
    found.push_back(extent.offset);
  }
  return found;
}

// Each read is read ahead once, four steps before.
TEST(ReadPattern, ReadsEqualStepsAhead) {
  ReadPattern pattern;
  EXPECT_TRUE(pattern.note(1000, 100).empty());
  EXPECT_TRUE(pattern.note(2000, 100).empty());
  EXPECT_EQ(offsets(pattern.note(3000, 100)), (std::vector<uint64_t>{4000, 5000, 6000, 7000}));
  EXPECT_EQ(offsets(pattern.note(4000, 100)), std::vector<uint64_t>{8000});
  EXPECT_EQ(offsets(pattern.note(5000, 100)), std::vector<uint64_t>{9000});
  EXPECT_TRUE(pattern.note(5500, 100).empty());
  EXPECT_TRUE(pattern.note(6500, 100).empty());
  EXPECT_EQ(offsets(pattern.note(7500, 100)).size(), 4u);
}

TEST(ReadPattern, ReadsBackwardsAheadUntilTheBeginning) {
  ReadPattern pattern;
  pattern.note(3000, 100);
  pattern.note(2000, 100);
  EXPECT_EQ(offsets(pattern.note(1000, 100)), std::vector<uint64_t>{0});
}

TEST(ReadPattern, LeavesReadsWithoutGapsToTheSystem) {
  ReadPattern pattern;
  for (uint64_t at = 0; at < 1000; at += 100) EXPECT_TRUE(pattern.note(at, 100).empty());
  for (int i = 0; i < 5; ++i) EXPECT_TRUE(pattern.note(0, 100).empty()) << "the same bytes again";
}

TEST(ReadPattern, ReadsNothingAheadWithoutAPattern) {
  ReadPattern pattern;
  for (const uint64_t at : {0, 1000, 5000, 6000, 9000, 9500, 20000}) EXPECT_TRUE(pattern.note(at, 100).empty());
  pattern.note(0, 100);
  pattern.note(1000, 200);
  EXPECT_TRUE(pattern.note(2000, 300).empty());
}

}  // namespace
