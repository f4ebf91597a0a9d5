// Promise 2, memory is bounded: the behaviour at the limit of the budget, for each `when_full`. Neither the pool nor
// the process ever holds more than allowed.
//
// The test fills the budget without relying on timing: with blocks that it has allocated and not yet committed.
#include <gtest/gtest.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <sstream>

#include "run_rig.hpp"

namespace {

using test::Config;
using test::Directory;
using test::OpenRun;

const char* const kVariables[] = {"a", "b", "c", "d", "e", "f"};
constexpr int kBlocksInBudget = 16;  // of 64 KiB in 1 MiB

class Budget : public ::testing::Test {
 protected:
  static Config config(const std::string& when_full) {
    Config config;
    config.budget = "1 MiB";
    config.when_full = when_full;
    return config;
  }
  // Allocates the whole budget, or fewer blocks, in iterations 100, 101 and 102.
  static void hold_all(tailrace_client* client, int blocks = kBlocksInBudget) {
    for (int i = 0; i < blocks; ++i) {
      void* memory = nullptr;
      ASSERT_EQ(tailrace_alloc(client, kVariables[i % 6], 100 + i / 6, &memory), TAILRACE_OK) << i;
      const std::vector<double> values = test::block(100 + i / 6, i % 6);
      std::memcpy(memory, values.data(), values.size() * sizeof(double));
    }
  }
  static void commit_all(tailrace_client* client, int blocks = kBlocksInBudget) {
    for (int i = 0; i < blocks; ++i) {
      ASSERT_EQ(tailrace_commit(client, kVariables[i % 6], 100 + i / 6), TAILRACE_OK);
    }
    for (int i = 100; i < 103; ++i) ASSERT_EQ(tailrace_end_iteration(client, i), TAILRACE_OK);
  }
  static void expect_held_blocks_right(tailrace_client* client) {
    std::vector<double> found(8192);
    for (int i = 0; i < kBlocksInBudget; ++i) {
      ASSERT_EQ(tailrace_read(client, kVariables[i % 6], 100 + i / 6, found.data()), TAILRACE_OK);
      EXPECT_EQ(found, test::block(100 + i / 6, i % 6));
    }
  }

  Directory directory_;
};

TEST_F(Budget, HeldByTheCallerIsToldAtOnce) {
  OpenRun run(config("block"), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  hold_all(run);
  const std::vector<double> values = test::block(200, 0);
  void* memory = nullptr;
  EXPECT_EQ(tailrace_write(run, "a", 200, values.data()), TAILRACE_BUDGET_HELD);
  EXPECT_EQ(run.error().variable, "a");
  EXPECT_EQ(run.error().iteration, 200);
  EXPECT_TRUE(run.error().says("1048576") && run.error().says("65536")) << run.error().message;
  EXPECT_EQ(tailrace_alloc(run, "a", 200, &memory), TAILRACE_BUDGET_HELD);
  EXPECT_EQ(memory, nullptr);
  EXPECT_EQ(run.stats().memory_held, 1U << 20);
  commit_all(run);
  EXPECT_EQ(tailrace_write(run, "a", 200, values.data()), TAILRACE_OK);
  EXPECT_EQ(tailrace_end_iteration(run, 200), TAILRACE_OK);
  EXPECT_EQ(tailrace_flush(run), TAILRACE_OK);
  EXPECT_EQ(run.stats().memory_peak, 1U << 20);
  EXPECT_EQ(run.stats().memory_held, 0U);
  expect_held_blocks_right(run);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

// There are 4 096 tickets.
TEST_F(Budget, CallsWithoutRoomTakeNoTickets) {
  OpenRun run(config("block"), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  tailrace_file file{};
  ASSERT_EQ(tailrace_file_open(run, "held.raw", TAILRACE_FILE_WRITE, &file), TAILRACE_OK);
  const int held = kBlocksInBudget - 1;  // the open file holds a little
  hold_all(run, held);
  std::vector<char> data(128 << 10, 'x');  // more than what is left
  const tailrace_extent extent{0, data.size()};
  tailrace_ticket ticket{};
  for (int call = 0; call < 4'100; ++call) {
    ASSERT_EQ(tailrace_file_iwrite(file, 1, &extent, data.data(), &ticket), TAILRACE_BUDGET_HELD);
    ASSERT_EQ(tailrace_file_read(file, 1, &extent, data.data()), TAILRACE_BUDGET_HELD);
  }
  commit_all(run, held);
  ASSERT_EQ(tailrace_file_iwrite(file, 1, &extent, data.data(), &ticket), TAILRACE_OK) << run.error().message;
  EXPECT_EQ(tailrace_wait(ticket, -1), TAILRACE_OK);
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST_F(Budget, BorrowNeedsNoRoomWhereMemoryIsSeen) {
  OpenRun run(config("block"), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  hold_all(run);
  const std::vector<double> values = test::block(200, 0);
  tailrace_ticket ticket;
  const tailrace_status expected = test::in_place_core() ? TAILRACE_BUDGET_HELD : TAILRACE_OK;
  EXPECT_EQ(tailrace_borrow(run, "a", 200, values.data(), &ticket), expected);
  EXPECT_EQ(tailrace_wait(ticket, -1), TAILRACE_OK);
  EXPECT_EQ(run.stats().memory_held, 1U << 20);
  commit_all(run);
  EXPECT_EQ(tailrace_end_iteration(run, 200), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST_F(Budget, BlockWaitsAndLosesNothing) {
  OpenRun run(config("block"), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  constexpr int kIterations = 50;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    for (int variable = 0; variable < 6; ++variable) {
      const std::vector<double> values = test::block(iteration, variable);
      ASSERT_EQ(tailrace_write(run, kVariables[variable], iteration, values.data()), TAILRACE_OK);
      ASSERT_LE(run.stats().memory_held, 1U << 20);
    }
    ASSERT_EQ(tailrace_end_iteration(run, iteration), TAILRACE_OK);
  }
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  EXPECT_LE(run.stats().memory_peak, run.stats().memory_budget);
  EXPECT_EQ(run.stats().blocks_written, 6U * kIterations);
  EXPECT_EQ(run.stats().iterations_published, uint64_t{kIterations});
  std::vector<double> found(8192);
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    ASSERT_EQ(tailrace_read(run, "f", iteration, found.data()), TAILRACE_OK);
    EXPECT_EQ(found, test::block(iteration, 5));
  }
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST_F(Budget, SyncWritesThroughInOrder) {
  OpenRun run(config("sync"), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  std::vector<double> values = test::block(200, 0);
  ASSERT_EQ(tailrace_write(run, "a", 200, values.data()), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  hold_all(run);
  values = test::block(200, 3);
  EXPECT_EQ(tailrace_write(run, "a", 200, values.data()), TAILRACE_OK);
  EXPECT_EQ(run.stats().blocks_written_through, 1U);
  EXPECT_EQ(run.stats().blocks_written, 2U);
  std::fill(values.begin(), values.end(), -1.0);  // the caller may use it again
  void* memory = nullptr;
  EXPECT_EQ(tailrace_alloc(run, "b", 200, &memory), TAILRACE_BUDGET_HELD);
  commit_all(run);
  EXPECT_EQ(tailrace_end_iteration(run, 200), TAILRACE_OK);
  std::vector<double> found(8192);
  EXPECT_EQ(tailrace_read(run, "a", 200, found.data()), TAILRACE_OK);
  EXPECT_EQ(found, test::block(200, 3));
  expect_held_blocks_right(run);
  EXPECT_LE(run.stats().memory_peak, run.stats().memory_budget);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST_F(Budget, DropGivesUpTheWholeIterationAndSaysSo) {
  OpenRun run(config("drop"), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  const std::vector<double> values = test::block(200, 0);
  // When it is dropped, the iteration has a block in storage and one in the caller's hands.
  ASSERT_EQ(tailrace_write(run, "a", 200, values.data()), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  EXPECT_TRUE(test::fs::exists(directory_.path() / "run_c0_000200.h5.part"));
  for (int i = 0; i < kBlocksInBudget - 1; ++i) {
    void* memory = nullptr;
    ASSERT_EQ(tailrace_alloc(run, kVariables[i % 6], 100 + i / 6, &memory), TAILRACE_OK);
  }
  void* memory = nullptr;
  ASSERT_EQ(tailrace_alloc(run, "b", 200, &memory), TAILRACE_OK);
  EXPECT_EQ(tailrace_write(run, "c", 200, values.data()), TAILRACE_DROPPED);
  EXPECT_EQ(run.error().iteration, 200);
  EXPECT_EQ(run.error().variable, "c");
  EXPECT_TRUE(run.error().says("dropped") && run.error().says("1048576")) << run.error().message;
  EXPECT_EQ(tailrace_write(run, "d", 200, values.data()), TAILRACE_DROPPED);
  EXPECT_EQ(tailrace_alloc(run, "e", 200, &memory), TAILRACE_DROPPED);
  EXPECT_EQ(memory, nullptr);
  tailrace_ticket ticket;
  EXPECT_EQ(tailrace_borrow(run, "e", 200, values.data(), &ticket), TAILRACE_DROPPED);
  EXPECT_EQ(tailrace_signal(run, "event", 200), TAILRACE_DROPPED);
  EXPECT_EQ(tailrace_commit(run, "b", 200), TAILRACE_DROPPED);
  EXPECT_EQ(tailrace_end_iteration(run, 200), TAILRACE_DROPPED);
  for (int i = 0; i < kBlocksInBudget - 1; ++i) {
    ASSERT_EQ(tailrace_commit(run, kVariables[i % 6], 100 + i / 6), TAILRACE_OK);
  }
  for (int i = 100; i < 103; ++i) ASSERT_EQ(tailrace_end_iteration(run, i), TAILRACE_OK);
  // Room again: later iterations are whole.
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  ASSERT_EQ(tailrace_write(run, "a", 201, values.data()), TAILRACE_OK);
  ASSERT_EQ(tailrace_end_iteration(run, 201), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  const tailrace_stats stats = run.stats();
  EXPECT_EQ(stats.iterations_dropped, 1U);
  EXPECT_EQ(stats.iterations_published, 4U);
  EXPECT_EQ(stats.iterations_ended, 5U);
  EXPECT_EQ(stats.failures, 0U);  // dropping is not a failure
  EXPECT_EQ(stats.blocks_dropped, 6U);
  std::vector<double> found(8192);
  EXPECT_EQ(tailrace_read(run, "a", 200, found.data()), TAILRACE_NOT_FOUND);
  EXPECT_EQ(run.close(), TAILRACE_OK);
  EXPECT_EQ(directory_.names(), (std::vector<std::string>{"run_c0.dropped", "run_c0_000100.h5", "run_c0_000101.h5",
                                                          "run_c0_000102.h5", "run_c0_000201.h5"}));
  std::stringstream journal;
  journal << std::ifstream(directory_.path() / "run_c0.dropped").rdbuf();
  EXPECT_NE(journal.str().find("iteration 200"), std::string::npos) << journal.str();
}

// Under drop, each iteration is complete or absent, whatever storage does.
TEST_F(Budget, DropNeverLeavesAPartOfAnIteration) {
  Config tiny = config("drop");
  tiny.shape = "[16, 1024]";  // 128 KiB: eight in the budget
  OpenRun run(tiny, directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  std::vector<bool> dropped;
  for (int iteration = 0; iteration < 100; ++iteration) {
    bool gone = false;
    for (int variable = 0; variable < 6; ++variable) {
      const std::vector<double> values = test::block(iteration, variable, 16 * 1024);
      const tailrace_status status = tailrace_write(run, kVariables[variable], iteration, values.data());
      ASSERT_EQ(status, gone || status == TAILRACE_DROPPED ? TAILRACE_DROPPED : TAILRACE_OK);
      gone = status == TAILRACE_DROPPED;
    }
    EXPECT_EQ(tailrace_end_iteration(run, iteration), gone ? TAILRACE_DROPPED : TAILRACE_OK);
    dropped.push_back(gone);
  }
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  std::vector<double> found(16 * 1024);
  for (int iteration = 0; iteration < 100; ++iteration) {
    for (int variable = 0; variable < 6; ++variable) {
      const tailrace_status status = tailrace_read(run, kVariables[variable], iteration, found.data());
      ASSERT_EQ(status, dropped[static_cast<size_t>(iteration)] ? TAILRACE_NOT_FOUND : TAILRACE_OK);
      if (status == TAILRACE_OK) {
        EXPECT_EQ(found, test::block(iteration, variable, 16 * 1024));
      }
    }
  }
  const auto count = static_cast<uint64_t>(std::count(dropped.begin(), dropped.end(), true));
  EXPECT_EQ(run.stats().iterations_dropped, count);
  EXPECT_EQ(run.stats().iterations_published, 100 - count);
  EXPECT_EQ(run.stats().blocks_dropped, 6 * count);
  EXPECT_LE(run.stats().memory_peak, run.stats().memory_budget);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST_F(Budget, BlockLargerThanTheBudgetIsRefused) {
  Config large = config("block");
  large.shape = "[1024, 1024]";  // 8 MiB
  const OpenRun run(large, directory_);
  ASSERT_FALSE(run.opened());
  EXPECT_EQ(run.error().status, TAILRACE_INVALID_CONFIG);
  EXPECT_TRUE(run.error().says("budget") && run.error().says("test.yaml:")) << run.error().message;

  // The pool is whole pages: a block may be smaller than the budget and still too large for the pool.
  Config by_a_hair = config("block");
  by_a_hair.budget = "1049000";
  by_a_hair.type = "int8";
  by_a_hair.shape = "[1048900]";
  const OpenRun hair(by_a_hair, directory_);
  if (!hair.opened()) {
    EXPECT_EQ(hair.error().status, TAILRACE_INVALID_CONFIG);
    return;
  }
  const std::vector<char> bytes(1048900);
  EXPECT_EQ(tailrace_write(hair, "a", 0, bytes.data()), TAILRACE_TOO_LARGE);
  EXPECT_TRUE(hair.error().says("1048900") && hair.error().says("budget")) << hair.error().message;
  EXPECT_EQ(hair.error().variable, "a");
  void* memory = nullptr;
  EXPECT_EQ(tailrace_alloc(hair, "a", 0, &memory), TAILRACE_TOO_LARGE);
}

TEST_F(Budget, MoreThanTheSystemGivesIsRefused) {
  if (test::kSanitized) GTEST_SKIP() << "a sanitizer's memory has no limit";
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_AS, &before), 0);
  rlimit small = before;
  small.rlim_cur = rlim_t{1} << 30;
  ASSERT_EQ(setrlimit(RLIMIT_AS, &small), 0);
  Config large;
  large.budget = "2 GiB";
  const OpenRun run(large, directory_);
  ASSERT_EQ(setrlimit(RLIMIT_AS, &before), 0);
  ASSERT_FALSE(run.opened());
  EXPECT_EQ(run.error().status, TAILRACE_OUT_OF_MEMORY);
  EXPECT_TRUE(run.error().says("2048 MiB")) << run.error().message;
  EXPECT_EQ(directory_.names(), std::vector<std::string>{});  // the lock is released
}

// Before the system can have provided all of it.
TEST_F(Budget, IsUsedWholeRightAfterTheOpen) {
  constexpr size_t kCount = size_t{8} << 20;
  Config whole;
  whole.budget = "64 MiB";
  whole.shape = "[8388608]";
  OpenRun run(whole, directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  const std::vector<double> values = test::block(0, 0, kCount);
  ASSERT_EQ(tailrace_write(run, "a", 0, values.data()), TAILRACE_OK);
  ASSERT_EQ(tailrace_end_iteration(run, 0), TAILRACE_OK);
  EXPECT_EQ(run.stats().memory_peak, uint64_t{64} << 20);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  std::vector<double> found(kCount);
  ASSERT_EQ(tailrace_read(run, "a", 0, found.data()), TAILRACE_OK);
  EXPECT_EQ(found, values);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST_F(Budget, ClosesRightAfterTheOpen) {
  Config large;
  large.budget = "256 MiB";
  for (int count = 0; count < 5; ++count) {
    OpenRun run(large, directory_);
    ASSERT_TRUE(run.opened()) << run.error().message;
    EXPECT_EQ(run.close(), TAILRACE_OK);
  }
}

// Returns the most memory that this process has had, without the pages of files: those are programs and libraries,
// which the system maps as they are used.
int64_t high_water_mark() {
  std::ifstream status("/proc/self/status");
  int64_t kilobytes = 0;
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) kilobytes += std::stoll(line.substr(6));
    if (line.starts_with("RssFile:")) kilobytes -= std::stoll(line.substr(8));
  }
  return kilobytes << 10;
}

// Forgets what earlier tests of this process have used, and returns the mark.
int64_t reset_high_water_mark() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << 5;
  return high_water_mark();
}

TEST_F(Budget, ResidentMemoryStaysWithin64MiBOfIt) {
  if (test::kSanitized) GTEST_SKIP() << "a sanitizer takes memory of its own";
  constexpr uint64_t kMiB = 1 << 20;
  Config config;
  config.budget = "64 MiB";
  config.shape = "[1024, 1024]";  // 8 MiB
  const std::vector<double> values = test::block(1, 1, 1 << 20);
  const int64_t before = reset_high_water_mark();
  OpenRun run(config, directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  for (int iteration = 0; iteration < 12; ++iteration) {
    for (const char* variable : kVariables) {
      ASSERT_EQ(tailrace_write(run, variable, iteration, values.data()), TAILRACE_OK);
    }
    ASSERT_EQ(tailrace_end_iteration(run, iteration), TAILRACE_OK);
    if (iteration > 0) test::fs::remove(directory_.path() / ("run_c0_00000" + std::to_string(iteration - 1) + ".h5"));
  }
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  EXPECT_LE(run.stats().memory_peak, 64 * kMiB);
  EXPECT_EQ(run.close(), TAILRACE_OK);
  EXPECT_LE(high_water_mark() - before, (64 + 64) * int64_t{kMiB});
}

// Limits the open files of this process, and of those that it starts, while it lives.
class FileLimit {
 public:
  explicit FileLimit(rlim_t files) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const rlimit limit{files, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &limit);
  }
  ~FileLimit() { setrlimit(RLIMIT_NOFILE, &before_); }
  FileLimit(const FileLimit&) = delete;
  FileLimit& operator=(const FileLimit&) = delete;

 private:
  rlimit before_{};
};

// Returns how many files the process has open. Opening files until it fails would leave none for the server's thread.
size_t open_files() {
  const test::fs::directory_iterator files("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(files), end(files))) - 1;  // without the directory itself
}

Config small_iterations(const std::string& when_full) {
  Config config;
  config.budget = "4 MiB";
  config.when_full = when_full;
  config.shape = "[64]";
  return config;
}

// A burst of small iterations, thousands of which would fit into memory.
TEST_F(Budget, IterationsAreBoundedByTheLimitOfOpenFiles) {
  constexpr rlim_t kFiles = 256;
  const FileLimit limit(kFiles);
  OpenRun run(small_iterations("block"), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  const size_t before = open_files();
  constexpr int kIterations = 2000;
  size_t most = before;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const std::vector<double> values = test::block(iteration, 0, 64);
    ASSERT_EQ(tailrace_write(run, "a", iteration, values.data()), TAILRACE_OK) << run.error().message;
    ASSERT_EQ(tailrace_end_iteration(run, iteration), TAILRACE_OK) << run.error().message;
    if (iteration % 10 == 0) most = std::max(most, open_files());
  }
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK) << run.error().message;
  const tailrace_stats stats = run.stats();
  EXPECT_EQ(stats.iterations_published, uint64_t{kIterations});
  EXPECT_EQ(stats.iterations_failed, 0U);
  EXPECT_GT(stats.iterations_limit, 0U);
  EXPECT_LE(stats.iterations_peak, stats.iterations_limit);
  EXPECT_LE(most, before + kFiles / 8 + 4) << "most files are the program's";
  if (!test::in_place_core()) {
    EXPECT_EQ(stats.iterations_limit, kFiles / 8 / 2);
  }
  std::vector<double> found(64);
  for (int iteration = 0; iteration < kIterations; iteration += 97) {
    ASSERT_EQ(tailrace_read(run, "a", iteration, found.data()), TAILRACE_OK);
    EXPECT_EQ(found, test::block(iteration, 0, 64));
  }
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST_F(Budget, MemoryBesideItIsBoundedForManySmallIterations) {
  if (test::kSanitized) GTEST_SKIP() << "a sanitizer takes memory of its own";
  if (test::in_place_core()) GTEST_SKIP() << "the memory is another process's";
  // The budget of 4 MiB and its aligned buffers, a quarter of it, are taken in the background, some of that after
  // open has returned.
  const int64_t before = reset_high_water_mark();
  OpenRun run(small_iterations("block"), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  const std::vector<double> values = test::block(1, 0, 64);
  for (int iteration = 0; iteration < 5000; ++iteration) {
    ASSERT_EQ(tailrace_write(run, "a", iteration, values.data()), TAILRACE_OK);
    ASSERT_EQ(tailrace_end_iteration(run, iteration), TAILRACE_OK);
  }
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  EXPECT_LE(high_water_mark() - before, int64_t{4 + 1 + 8} << 20);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

// As in README.
TEST_F(Budget, MemoryBesideItIsBoundedForManyVariables) {
  if (test::kSanitized) GTEST_SKIP() << "a sanitizer takes memory of its own";
  if (test::in_place_core()) GTEST_SKIP() << "the memory is another process's";
  constexpr int kMore = 1000;
  Config config = small_iterations("block");
  config.more_variables = kMore;
  const int64_t before = reset_high_water_mark();
  OpenRun run(config, directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  const std::vector<double> values = test::block(1, 0, 64);
  for (int iteration = 0; iteration < 30; ++iteration) {
    for (int i = 0; i < kMore; ++i) {
      ASSERT_EQ(tailrace_write(run, ("v" + std::to_string(i)).c_str(), iteration, values.data()), TAILRACE_OK);
    }
    ASSERT_EQ(tailrace_end_iteration(run, iteration), TAILRACE_OK);
  }
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  EXPECT_LE(high_water_mark() - before, ((4 + 11) << 20) + kMore * (int64_t{13} << 10));
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

}  // namespace
