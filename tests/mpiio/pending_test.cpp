// Patterns of bytes, compared with sets of bytes; and the table in which the processes of a node show what they have
// on their way.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <random>
#include <set>
#include <thread>

#include "mpiio/pending/byte_pattern.hpp"
#include "mpiio/pending/node_table.hpp"

namespace {

using tailrace::mpiio::BytePattern;
using tailrace::mpiio::FileKey;
using tailrace::mpiio::NodeTable;
using tailrace::mpiio::patterns_of;
using tailrace::mpiio::touch;

std::set<uint64_t> bytes_of(const BytePattern& pattern) {
  std::set<uint64_t> bytes;
  for (uint64_t block = 0; block < pattern.count; ++block) {
    for (uint64_t i = 0; i < pattern.length; ++i) bytes.insert(pattern.begin + block * pattern.step + i);
  }
  return bytes;
}

BytePattern some_pattern(std::mt19937_64& dice) {
  const uint64_t length = 1 + dice() % 9;
  const uint64_t count = 1 + dice() % 6;
  const uint64_t step = count > 1 ? length + dice() % 12 : 0;
  return {dice() % 60, length, step, count};
}

TEST(BytePattern, TouchesAnotherIfTheyHaveAByteInCommon) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 dice(seed);
  for (int round = 0; round < 20'000; ++round) {
    const BytePattern one = some_pattern(dice);
    BytePattern other = some_pattern(dice);
    if (dice() % 3 == 0 && one.count > 1 && other.count > 1 && one.step >= other.length) other.step = one.step;
    const std::set<uint64_t> bytes = bytes_of(one);
    bool common = false;
    for (const uint64_t byte : bytes_of(other)) common = common || bytes.contains(byte);
    ASSERT_EQ(touch(one, other), common)
        << one.begin << " " << one.length << " " << one.step << " " << one.count << ", " << other.begin << " "
        << other.length << " " << other.step << " " << other.count;
    ASSERT_EQ(touch(other, one), common);
  }
}

TEST(BytePattern, DescribesExtentsExactlyWhereTheyAreRegular) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 dice(seed);
  for (int round = 0; round < 2'000; ++round) {
    std::vector<tailrace_extent> extents;
    std::set<uint64_t> bytes;
    uint64_t at = dice() % 50;
    uint64_t length = 1 + dice() % 5;
    uint64_t gap = dice() % 5;
    for (uint64_t i = 1 + dice() % 30; i > 0; --i) {
      if (dice() % 8 == 0) length = 1 + dice() % 5;
      if (dice() % 8 == 0) gap = dice() % 5;
      extents.push_back({at, length});
      for (uint64_t byte = at; byte < at + length; ++byte) bytes.insert(byte);
      at += length + gap;
    }
    std::set<uint64_t> described;
    for (const BytePattern& pattern : patterns_of(extents, 100)) described.merge(bytes_of(pattern));
    ASSERT_EQ(described, bytes);
    const std::vector<BytePattern> few = patterns_of(extents, 3);
    ASSERT_LE(few.size(), 3u);
    std::set<uint64_t> more;
    for (const BytePattern& pattern : few) more.merge(bytes_of(pattern));
    for (const uint64_t byte : bytes) ASSERT_TRUE(more.contains(byte));
  }
}

TEST(BytePattern, DescribesManyEqualPiecesByOne) {
  std::vector<tailrace_extent> extents;
  for (uint64_t i = 0; i < 100'000; ++i) extents.push_back({i * 32, 8});
  const std::vector<BytePattern> patterns = patterns_of(extents, 1);
  ASSERT_EQ(patterns, (std::vector<BytePattern>{{0, 8, 32, 100'000}}));
  EXPECT_FALSE(touch(patterns[0], {8, 8, 32, 100'000})) << "the pieces of another process between them";
}

constexpr FileKey kFile{1, 2};
constexpr BytePattern kAll{0, UINT64_MAX, 0, 1};

bool nothing(int, bool) { return true; }

std::atomic<int> departed_waits = 0;
int departed = 0;  // the process for which somebody waited last
bool is_written = false;
bool count_wait(int process, bool only_looks) {
  if (only_looks) return is_written;
  ++departed_waits;
  departed = process;
  return true;
}

// A table of its own, which vanishes at the end.
class NodeTables : public testing::Test {
 protected:
  ~NodeTables() override { ::unlink(path_.c_str()); }

  static void show(NodeTable& table, const BytePattern& bytes, uint64_t access = 0) {
    table.begin_change();
    table.set(0, kFile, bytes, access);
    table.set_count(1);
    table.end_change();
  }
  static void show_nothing(NodeTable& table) {
    table.begin_change();
    table.set_count(0);
    table.end_change();
  }

  const std::string path_ = testing::TempDir() + "tailrace_table_" + std::to_string(::getpid());
};

TEST_F(NodeTables, ShowWhatOthersHaveOnTheirWay) {
  NodeTable one(path_, nothing);
  NodeTable other(path_, nothing);
  EXPECT_EQ(one.number(), other.number());
  show(one, {100, 50, 0, 1});
  const BytePattern beside{150, 50, 0, 1};
  const BytePattern over{149, 1, 0, 1};
  EXPECT_FALSE(other.find(0, kFile, {&beside, 1}));
  ASSERT_TRUE(other.find(0, kFile, {&over, 1}));
  EXPECT_FALSE(other.find(other.find(0, kFile, {&over, 1})->slot + 1, kFile, {&over, 1}));
  EXPECT_FALSE(other.find(0, {1, 3}, {&over, 1})) << "another file";
  EXPECT_FALSE(one.find(0, kFile, {&over, 1})) << "its own";
  show_nothing(one);
  EXPECT_FALSE(other.find(0, kFile, {&kAll, 1}));
}

TEST_F(NodeTables, AQuestionIsAnsweredByItsProcess) {
  NodeTable one(path_, nothing);
  NodeTable other(path_, nothing);
  constexpr int kQuestions = 1000;
  std::atomic<int> written = 0;
  std::thread answering([&one, &written] {
    while (written < kQuestions) {
      one.wait_for_questions();
      ++written;
      show_nothing(one);
      one.answer();
    }
  });
  for (int i = 0; i < kQuestions; ++i) {
    show(one, {0, 10, 0, 1});
    const auto process = other.find(0, kFile, {&kAll, 1});
    ASSERT_TRUE(process);
    other.ask(*process);
    ASSERT_EQ(written, i + 1);
    ASSERT_FALSE(other.find(0, kFile, {&kAll, 1}));
  }
  answering.join();
}

// Without it, the asker would wait for a process that has nothing to do with its question, and may be stopped.
TEST_F(NodeTables, WhoTakesASlotOverIsNotAskedInPlaceOfItsEarlierProcess) {
  auto one = std::make_unique<NodeTable>(path_, nothing);
  NodeTable other(path_, nothing);
  show(*one, {0, 10, 0, 1});
  const auto process = other.find(0, kFile, {&kAll, 1});
  ASSERT_TRUE(process);
  one.reset();
  NodeTable next(path_, nothing);
  show(next, {0, 10, 0, 1});
  ASSERT_EQ(other.find(0, kFile, {&kAll, 1})->slot, process->slot);
  other.ask(*process);  // `next` never answers
}

// A server may still write it, in place core.
TEST_F(NodeTables, WhatAProcessLeftIsWaitedForOnce) {
  departed_waits = 0;
  is_written = false;
  NodeTable first(path_, count_wait);
  auto one = std::make_unique<NodeTable>(path_, count_wait);
  auto two = std::make_unique<NodeTable>(path_, count_wait);
  NodeTable other(path_, count_wait);
  show(*one, {0, 10, 0, 1});
  show(*two, {0, 10, 0, 1});
  two->begin_change();  // it ends in the midst of a change
  one.reset();
  two.reset();
  for (int i = 1; i <= 2; ++i) {
    const auto left = other.find(0, kFile, {&kAll, 1});
    ASSERT_TRUE(left);
    other.ask(*left);
    EXPECT_EQ(departed_waits, i);
    EXPECT_EQ(departed, ::getpid());
  }
  EXPECT_FALSE(other.find(0, kFile, {&kAll, 1})) << "nobody waits again";
}

TEST_F(NodeTables, ASlotThatShowsWhatIsNotWrittenYetIsTakenLast) {
  departed_waits = 0;
  is_written = false;
  auto one = std::make_unique<NodeTable>(path_, count_wait);
  show(*one, {0, 10, 0, 1});
  one.reset();
  NodeTable next(path_, count_wait);
  NodeTable other(path_, count_wait);
  EXPECT_TRUE(other.find(0, kFile, {&kAll, 1})) << "it still shows that";
  is_written = true;
  NodeTable last(path_, count_wait);
  EXPECT_FALSE(other.find(0, kFile, {&kAll, 1})) << "when all is written, the slot is taken";
  EXPECT_EQ(departed_waits, 0) << "who touches nothing of it waits for nobody";
}

// A process that writes a part of a collective access does not wait for the others' parts of it.
TEST_F(NodeTables, BytesOfOneCollectiveAccessAreNotInEachOthersWay) {
  NodeTable one(path_, nothing);
  NodeTable other(path_, nothing);
  show(one, {0, 10, 0, 1}, 7);
  EXPECT_FALSE(other.find(0, kFile, {&kAll, 1}, 7));
  EXPECT_TRUE(other.find(0, kFile, {&kAll, 1}, 8));
  EXPECT_TRUE(other.find(0, kFile, {&kAll, 1}));
  show(one, {0, 10, 0, 1});
  EXPECT_TRUE(other.find(0, kFile, {&kAll, 1}, 7));
}

// As many as a process may show at once: every one is found, and none lies in the next slot.
TEST_F(NodeTables, AllEntriesOfASlotAreShown) {
  NodeTable one(path_, nothing);
  NodeTable next(path_, nothing);
  NodeTable other(path_, nothing);
  one.begin_change();
  for (uint32_t i = 0; i < NodeTable::kEntries; ++i) one.set(i, kFile, {uint64_t{i} * 100, 10, 0, 1});
  one.set_count(NodeTable::kEntries);
  one.end_change();
  for (uint32_t i = 0; i < NodeTable::kEntries; ++i) {
    const BytePattern byte{uint64_t{i} * 100, 1, 0, 1};
    const auto found = other.find(0, kFile, {&byte, 1});
    ASSERT_TRUE(found) << i;
    EXPECT_FALSE(other.find(found->slot + 1, kFile, {&byte, 1})) << i;
  }
}

// A reader sees one or the other of two patterns, never parts of both: those would touch `between`.
TEST_F(NodeTables, AChangeIsSeenWholeOrNotAtAll) {
  NodeTable one(path_, nothing);
  NodeTable other(path_, nothing);
  const BytePattern between{500, 100, 0, 1};
  show(one, {0, 100, 0, 1});
  std::atomic<bool> ends = false;
  std::thread changing([&] {
    for (uint64_t i = 0; i < 200'000; ++i)
      show(one, i % 2 == 0 ? BytePattern{1000, 5000, 0, 1} : BytePattern{0, 100, 0, 1});
    ends = true;
  });
  int looks = 0;
  for (; !ends; ++looks) EXPECT_FALSE(other.find(0, kFile, {&between, 1}));
  changing.join();
  EXPECT_GT(looks, 0);
}

TEST_F(NodeTables, AProcessThatDiesLeavesNothing) {
  NodeTable other(path_, nothing);
  int pipe[2];
  ASSERT_EQ(::pipe(pipe), 0);
  const pid_t child = ::fork();
  if (child == 0) {
    NodeTable own(path_, nothing);
    show(own, {0, 10, 0, 1});
    own.begin_change();  // and dies in the midst of a change
    (void)!::write(pipe[1], "x", 1);
    ::pause();
    ::_exit(0);
  }
  char told = 0;
  ASSERT_EQ(::read(pipe[0], &told, 1), 1);
  const auto slot = other.find(0, kFile, {&kAll, 1});
  ASSERT_TRUE(slot);
  ::kill(child, SIGKILL);
  other.ask(*slot);
  ASSERT_EQ(::waitpid(child, nullptr, 0), child);
  EXPECT_FALSE(other.find(0, kFile, {&kAll, 1}));
  NodeTable next(path_, nothing);
  EXPECT_FALSE(other.find(0, kFile, {&kAll, 1})) << "the next process takes the slot, empty";
  ::close(pipe[0]);
  ::close(pipe[1]);
}

TEST_F(NodeTables, OneThatOthersMayReadIsRefused) {
  std::fclose(std::fopen(path_.c_str(), "w"));
  ::chmod(path_.c_str(), 0644);
  NodeTable one(path_, nothing);
  NodeTable other(path_, nothing);
  EXPECT_NE(one.number(), other.number()) << "each is alone";
  show(one, {0, 10, 0, 1});
  EXPECT_FALSE(other.find(0, kFile, {&kAll, 1}));
}

// Another user could make the file first, and hold its lock.
TEST_F(NodeTables, OneThatIsRefusedIsNotWaitedFor) {
  const int other = ::open(path_.c_str(), O_RDWR | O_CREAT, 0666);
  ::fchmod(other, 0666);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  ASSERT_EQ(::fcntl(other, F_OFD_SETLK, &lock), 0) << "all bytes";
  NodeTable one(path_, nothing);
  EXPECT_FALSE(one.find(0, kFile, {&kAll, 1}));
  ::close(other);
}

TEST_F(NodeTables, GarbageIsRefused) {
  { const NodeTable made(path_, nothing); }
  const auto size = static_cast<size_t>(std::filesystem::file_size(path_));
  std::ofstream(path_, std::ios::binary) << std::string(size, '\xff');
  NodeTable one(path_, nothing);
  NodeTable other(path_, nothing);
  EXPECT_NE(one.number(), other.number()) << "each is alone";
  EXPECT_FALSE(one.find(0, kFile, {&kAll, 1}));
}

TEST_F(NodeTables, ItsMemoryIsTakenWhenItIsMade) {
  { const NodeTable made(path_, nothing); }
  struct stat found {};
  ASSERT_EQ(::stat(path_.c_str(), &found), 0);
  EXPECT_GE(found.st_blocks * 512, found.st_size);
}

TEST_F(NodeTables, BeyondTheLastSlotAProcessIsAlone) {
  std::vector<std::unique_ptr<NodeTable>> tables;
  for (uint32_t i = 0; i < NodeTable::kSlots; ++i) tables.push_back(std::make_unique<NodeTable>(path_, nothing));
  EXPECT_EQ(tables.front()->number(), tables.back()->number());
  NodeTable one_more(path_, nothing);
  EXPECT_NE(one_more.number(), tables.front()->number());
  show(*tables.back(), {0, 10, 0, 1});
  ASSERT_TRUE(tables.front()->find(0, kFile, {&kAll, 1}));
  EXPECT_EQ(tables.front()->find(0, kFile, {&kAll, 1})->slot, NodeTable::kSlots - 1);
}

}  // namespace
