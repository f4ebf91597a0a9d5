// Memory that a caller keeps (tailrace_alloc_kept): its contents after commit, drop and close, and no other use of
// it.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <thread>

#include "hdf5_file.hpp"
#include "run_rig.hpp"

namespace {

using test::Config;
using test::Directory;
using test::OpenRun;

constexpr size_t kBlocksInBudget = 16;  // of 64 KiB in 1 MiB

struct Kept {
  const double* data = nullptr;
  tailrace_memory* memory = nullptr;
  std::vector<double> expected;

  bool is_whole() const { return std::equal(expected.begin(), expected.end(), data); }
};

class KeptMemory : public ::testing::Test {
 protected:
  static Config config(const std::string& when_full = "block") {
    Config config;
    config.budget = "1 MiB";
    config.when_full = when_full;
    return config;
  }
  static Kept allocate(tailrace_client* client, const char* variable, int64_t iteration) {
    void* data = nullptr;
    Kept kept;
    EXPECT_EQ(tailrace_alloc_kept(client, variable, iteration, &data, &kept.memory), TAILRACE_OK);
    if (data == nullptr) return kept;
    kept.expected = test::block(iteration, variable[0] - 'a');
    std::memcpy(data, kept.expected.data(), kept.expected.size() * sizeof(double));
    kept.data = static_cast<const double*>(data);
    return kept;
  }
  static void finish(tailrace_client* client, int64_t iteration) {
    ASSERT_EQ(tailrace_commit(client, "a", iteration), TAILRACE_OK);
    ASSERT_EQ(tailrace_end_iteration(client, iteration), TAILRACE_OK);
    ASSERT_EQ(tailrace_flush(client), TAILRACE_OK);
  }

  Directory directory_;
};

TEST_F(KeptMemory, HoldsItsBytesWhateverIsWrittenAfterIt) {
  OpenRun run(config(), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  const Kept kept = allocate(run, "a", 0);
  finish(run, 0);
  for (int64_t iteration = 1; iteration < 40; ++iteration) {
    const Kept passing = allocate(run, "a", iteration);
    tailrace_release(passing.memory);  // before the commit: then it belongs to the pool as usual
    finish(run, iteration);
    EXPECT_TRUE(kept.is_whole()) << iteration;
  }
  EXPECT_EQ(run.stats().memory_held, 64u << 10);
  tailrace_release(kept.memory);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST_F(KeptMemory, OutlivesTheClient) {
  OpenRun run(config(), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  const Kept first = allocate(run, "a", 0);
  finish(run, 0);
  const Kept second = allocate(run, "a", 1);  // never committed
  EXPECT_EQ(run.close(), TAILRACE_OK);
  EXPECT_TRUE(first.is_whole());
  EXPECT_TRUE(second.is_whole());
  tailrace_release(second.memory);
  EXPECT_TRUE(first.is_whole());
  std::thread([&] { tailrace_release(first.memory); }).join();
}

// A program that keeps the whole budget gets an error, and does not wait for itself.
TEST_F(KeptMemory, ThatTakesTheWholeBudgetIsToldAtOnce) {
  OpenRun run(config(), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  std::vector<Kept> all;
  for (size_t i = 0; i < kBlocksInBudget; ++i) {
    all.push_back(allocate(run, "a", static_cast<int64_t>(i)));
    finish(run, static_cast<int64_t>(i));
  }
  void* data = &data;
  tailrace_memory* memory = all[0].memory;
  EXPECT_EQ(tailrace_alloc_kept(run, "a", 100, &data, &memory), TAILRACE_BUDGET_HELD);
  EXPECT_EQ(data, nullptr);
  EXPECT_EQ(memory, nullptr);
  EXPECT_TRUE(run.error().says("1048576 are of committed blocks that it still keeps")) << run.error().message;
  const std::vector<double> values = test::block(100, 0);
  EXPECT_EQ(tailrace_write(run, "a", 100, values.data()), TAILRACE_BUDGET_HELD);
  std::thread([&] { tailrace_release(all[3].memory); }).join();
  EXPECT_EQ(tailrace_write(run, "a", 100, values.data()), TAILRACE_OK);
  EXPECT_EQ(tailrace_end_iteration(run, 100), TAILRACE_OK);
  all.erase(all.begin() + 3);
  for (const Kept& kept : all) EXPECT_TRUE(kept.is_whole());
  EXPECT_EQ(run.close(), TAILRACE_OK);
  for (const Kept& kept : all) tailrace_release(kept.memory);
}

TEST_F(KeptMemory, IsKeptUntilAllHaveLetGo) {
  OpenRun run(config(), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  const Kept kept = allocate(run, "a", 0);
  void* again = nullptr;
  tailrace_memory* second = nullptr;
  ASSERT_EQ(tailrace_alloc_kept(run, "a", 0, &again, &second), TAILRACE_OK);
  EXPECT_EQ(again, kept.data);
  tailrace_release(kept.memory);
  finish(run, 0);
  EXPECT_EQ(run.stats().memory_held, 64u << 10);
  EXPECT_TRUE(kept.is_whole());
  tailrace_release(second);
  EXPECT_EQ(run.stats().memory_held, 0u);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST_F(KeptMemory, OfADroppedIterationIsNobodyElses) {
  OpenRun run(config("drop"), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  const Kept kept = allocate(run, "a", 0);
  void* data = nullptr;
  for (size_t i = 1; i < kBlocksInBudget; ++i) {
    ASSERT_EQ(tailrace_alloc(run, "a", static_cast<int64_t>(i), &data), TAILRACE_OK);
  }
  ASSERT_EQ(tailrace_alloc(run, "b", 0, &data), TAILRACE_DROPPED);
  ASSERT_EQ(tailrace_commit(run, "a", 0), TAILRACE_DROPPED);
  ASSERT_EQ(tailrace_alloc(run, "a", 50, &data), TAILRACE_DROPPED) << "its memory is still kept";
  EXPECT_TRUE(kept.is_whole());
  tailrace_release(kept.memory);
  EXPECT_EQ(tailrace_alloc(run, "a", 51, &data), TAILRACE_OK);
}

// The child has only the record of it: neither the memory nor the pool is touched.
TEST_F(KeptMemory, IsReleasedInAChildWithoutHarm) {
  OpenRun run(config(), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  const Kept open = allocate(run, "a", 0);
  finish(run, 0);
  OpenRun other(config(), directory_, 1);
  ASSERT_TRUE(other.opened()) << other.error().message;
  const Kept closed = allocate(other, "a", 0);
  finish(other, 0);
  ASSERT_EQ(other.close(), TAILRACE_OK);
  const pid_t child = fork();
  if (child == 0) {
    tailrace_release(open.memory);
    tailrace_release(closed.memory);
    _exit(0);
  }
  int status = -1;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(open.is_whole());
  EXPECT_TRUE(closed.is_whole());
  EXPECT_EQ(run.stats().memory_held, 64u << 10);
  tailrace_release(open.memory);
  tailrace_release(closed.memory);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST_F(KeptMemory, RefusesWhatCannotBe) {
  OpenRun run(config(), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  void* data = nullptr;
  tailrace_memory* memory = nullptr;
  EXPECT_EQ(tailrace_alloc_kept(nullptr, "a", 0, &data, &memory), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_alloc_kept(run, nullptr, 0, &data, &memory), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_alloc_kept(run, "a", 0, nullptr, &memory), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_alloc_kept(run, "a", 0, &data, nullptr), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_alloc_kept(run, "z", 0, &data, &memory), TAILRACE_UNKNOWN_VARIABLE);
  EXPECT_EQ(memory, nullptr);
  tailrace_release(nullptr);
  EXPECT_EQ(run.stats().memory_held, 0u);
}

}  // namespace
