// Shared memory that is too small, or fills up while a client is open: a status reports it, never a signal. A large
// budget that is not used takes little of it.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "core_files.hpp"
#include "private_mount.hpp"

namespace {

using test::CoreNode;
using test::Directory;
using test::OpenRun;

class SharedMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!disk_.ok()) GTEST_SKIP() << "mounting a small tmpfs: " << std::strerror(errno);
    test::fs::permissions(node_.root(), test::fs::perms::owner_all);  // the mount has others
  }
  static test::Config config(const std::string& budget) {
    test::Config config = test::core_config();
    config.budget = budget;
    return config;
  }

  const CoreNode node_;
  const test::PrivateMount disk_ = test::PrivateMount::small_disk(node_.root(), "24m");
  const Directory directory_;
};

TEST_F(SharedMemory, ThatIsTooSmallIsToldByOpen) {
  const OpenRun run(config("64 MiB"), directory_, 0);
  ASSERT_FALSE(run.opened());
  EXPECT_EQ(run.error().status, TAILRACE_OUT_OF_MEMORY);
  EXPECT_EQ(run.error().system_errno, ENOSPC);
  EXPECT_TRUE(run.error().says("MiB free") && run.error().says("the 64 MiB of")) << run.error().message;
  node_.wait_end_of_servers();
  EXPECT_EQ(node_.leavings(), std::vector<std::string>());
}

TEST_F(SharedMemory, ForTwoClientsIsToldToTheSecond) {
  OpenRun first(config("14 MiB"), directory_, 0);
  ASSERT_TRUE(first.opened()) << first.error().message;
  {
    const OpenRun second(config("14 MiB"), directory_, 1);
    ASSERT_FALSE(second.opened());
    EXPECT_EQ(second.error().status, TAILRACE_OUT_OF_MEMORY);
  }
  ASSERT_EQ(test::write_iteration(first, 0), TAILRACE_OK);
  EXPECT_EQ(first.close(), TAILRACE_OK);
  test::expect_exact(directory_.path() / test::file_of(0, 0), 0);
}

// A limit of the server's files does the same (ServerLoss.AfterALedgerThatCouldNotBeWrittenIsTold).
TEST_F(SharedMemory, ThatIsFullWhenTheLedgerGrowsIsToldAfterTheServersDeath) {
  test::Config small = config("1 MiB");
  small.shape = "[1, 8]";
  OpenRun run(small, directory_, 0);
  ASSERT_TRUE(run.opened()) << run.error().message;
  ASSERT_EQ(test::write_iteration(run, 0), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK) << run.error().message;
  const test::fs::path filler = node_.root() / "filler";
  {
    const std::vector<char> page(4096, 'x');
    const int file = open(filler.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    while (write(file, page.data(), page.size()) > 0) {
    }
    EXPECT_EQ(errno, ENOSPC);
    close(file);
  }
  const double values[8] = {};
  for (int call = 0; call < 600; ++call) ASSERT_EQ(tailrace_signal(run, "storm", 1), TAILRACE_OK);
  ASSERT_EQ(tailrace_write(run, "a", 1, values), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK) << run.error().message;
  ASSERT_EQ(node_.kill_servers(SIGKILL), 1);
  node_.wait_end_of_servers();
  EXPECT_EQ(tailrace_end_iteration(run, 1), TAILRACE_OK);
  EXPECT_EQ(tailrace_flush(run), TAILRACE_SERVER_LOST);
  EXPECT_TRUE(run.error().says("could not record")) << run.error().message;
  EXPECT_NE(run.close(), TAILRACE_OK);
  node_.wait_end_of_servers();
  EXPECT_TRUE(test::fs::exists(directory_.path() / test::file_of(0, 0)));
  EXPECT_FALSE(test::fs::exists(directory_.path() / test::file_of(0, 1)));
  test::fs::remove(filler);
  EXPECT_EQ(node_.leavings(), std::vector<std::string>());
}

// Without a mount: it may use more of the machine's shared memory.
TEST(SharedMemoryOfALargeBudget, IsTakenAsItIsUsed) {
  constexpr uint64_t kAhead = uint64_t{64} << 20;  // the least that the server takes ahead
  constexpr uint64_t kRest = uint64_t{4} << 20;    // the channel's parts, and what is left of a part
  const CoreNode node;
  const Directory directory;
  test::Config config = test::core_config();
  config.budget = "256 MiB";
  OpenRun run(config, directory, 0);
  if (!run.opened()) GTEST_SKIP() << run.error().message;
  test::fs::path segment;
  for (const auto& entry : test::fs::recursive_directory_iterator(node.root())) {
    if (entry.is_regular_file() && entry.file_size() >= 256 << 20) segment = entry.path();
  }
  const auto taken = [&segment] {
    struct stat of {};
    EXPECT_EQ(stat(segment.c_str(), &of), 0);
    return static_cast<uint64_t>(of.st_blocks) * 512;
  };
  while (taken() < kAhead) sched_yield();
  uint64_t used = 0;
  void* memory = nullptr;
  for (int64_t iteration = 0; iteration < 10; ++iteration) {
    for (const char* variable : test::kVariables) {
      ASSERT_EQ(tailrace_alloc(run, variable, iteration, &memory), TAILRACE_OK);
      used += 64 << 10;
    }
  }
  EXPECT_LT(taken(), kAhead + used + kRest);
  for (int64_t iteration = 0; iteration < 10; ++iteration) {
    for (const char* variable : test::kVariables) ASSERT_EQ(tailrace_commit(run, variable, iteration), TAILRACE_OK);
    ASSERT_EQ(tailrace_end_iteration(run, iteration), TAILRACE_OK);
  }
  while (taken() < kAhead + used) sched_yield();
  EXPECT_EQ(tailrace_flush(run), TAILRACE_OK);
  EXPECT_LT(taken(), kAhead + used + kRest);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

// With the server stopped, its pages are taken away, and the disk is filled.
TEST_F(SharedMemory, ThatFillsUpIsToldByTheVerbThatNeedsIt) {
  OpenRun run(config("4 MiB"), directory_, 0);
  ASSERT_TRUE(run.opened()) << run.error().message;
  ASSERT_EQ(node_.kill_servers(SIGSTOP), 1);
  std::vector<test::fs::path> segments;
  for (const auto& entry : test::fs::recursive_directory_iterator(node_.root())) {
    if (entry.is_regular_file() && entry.file_size() >= 4 << 20) segments.push_back(entry.path());
  }
  ASSERT_EQ(segments.size(), 1u);
  const int segment = open(segments[0].c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(fallocate(segment, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, 0, 4 << 20), 0);
  close(segment);
  const test::fs::path filler = node_.root() / "filler";
  const int file = open(filler.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  struct statvfs of {};
  ASSERT_EQ(fstatvfs(file, &of), 0);
  ASSERT_EQ(posix_fallocate(file, 0, static_cast<off_t>(of.f_bavail * of.f_bsize)), 0);
  close(file);

  const std::vector<double> values = test::block(0, 0);
  void* memory = nullptr;
  EXPECT_EQ(tailrace_write(run, "a", 0, values.data()), TAILRACE_OUT_OF_MEMORY);
  EXPECT_TRUE(run.error().says("shared memory") && run.error().says("4 MiB")) << run.error().message;
  EXPECT_EQ(run.error().variable, "a");
  EXPECT_EQ(tailrace_alloc(run, "b", 0, &memory), TAILRACE_OUT_OF_MEMORY);
  EXPECT_EQ(run.stats().memory_held, 0u);

  test::fs::remove(filler);
  EXPECT_EQ(tailrace_write(run, "a", 0, values.data()), TAILRACE_OK);
  ASSERT_EQ(node_.kill_servers(SIGCONT), 1);
  EXPECT_EQ(test::write_iteration(run, 1), TAILRACE_OK);
  EXPECT_EQ(tailrace_end_iteration(run, 0), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);
  test::expect_exact(directory_.path() / test::file_of(0, 1), 1);
}

}  // namespace
