// Each back end with each durability, as in the configuration: same files, same bytes.
#include <gtest/gtest.h>

#include <cstring>
#include <tuple>

#include "hdf5_file.hpp"
#include "on_back_end.hpp"

namespace {

using test::Directory;
using test::OpenRun;

class BackEnds : public ::testing::TestWithParam<std::tuple<std::string, std::string>> {};
INSTANTIATE_TEST_SUITE_P(All, BackEnds,
                         ::testing::Combine(::testing::Values("auto", "uring", "posix", "memory"),
                                            ::testing::Values("accepted", "written", "durable")),
                         [](const auto& test) { return std::get<0>(test.param) + "_" + std::get<1>(test.param); });

TEST_P(BackEnds, KeepTheBytes) {
  const Directory directory;
  test::Config config;
  std::tie(config.backend, config.durability) = GetParam();
  const bool on_disk = config.backend != "memory";
  OpenRun run(config, directory);
  OPEN_OR_SKIP(run);
  const char* text = nullptr;
  ASSERT_EQ(tailrace_describe(run, &text), TAILRACE_OK);
  if (config.backend != "auto") {
    EXPECT_NE(std::strstr(text, config.backend.c_str()), nullptr) << text;
  }
  for (int iteration = 0; iteration < 4; ++iteration) {
    const std::vector<double> a = test::block(iteration, 0);
    const std::vector<double> b = test::block(iteration, 1);
    ASSERT_EQ(tailrace_write(run, "a", iteration, a.data()), TAILRACE_OK);
    tailrace_ticket ticket{};
    ASSERT_EQ(tailrace_borrow(run, "b", iteration, b.data(), &ticket), TAILRACE_OK);
    ASSERT_EQ(tailrace_wait(ticket, -1), TAILRACE_OK);
    ASSERT_EQ(tailrace_end_iteration(run, iteration), TAILRACE_OK);
    ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
    if (config.durability != "accepted") {
      EXPECT_EQ(run.stats().iterations_published, static_cast<uint64_t>(iteration + 1));
      const std::string name = "run_c0_00000" + std::to_string(iteration) + ".h5";
      EXPECT_EQ(test::fs::exists(directory.path() / name), on_disk);
    }
  }
  std::vector<double> found(8192);
  for (int iteration = 0; iteration < 4; ++iteration) {
    ASSERT_EQ(tailrace_read(run, "b", iteration, found.data()), TAILRACE_OK);
    EXPECT_EQ(found, test::block(iteration, 1));
  }
  EXPECT_EQ(run.close(), TAILRACE_OK);
  for (int iteration = 0; on_disk && iteration < 4; ++iteration) {
    const test::Hdf5File file(directory.path() / ("run_c0_00000" + std::to_string(iteration) + ".h5"));
    ASSERT_TRUE(file.opened());
    const std::vector<double> expected = test::block(iteration, 0);
    const std::vector<std::byte> bytes = file.bytes(iteration, "a");
    ASSERT_EQ(bytes.size(), expected.size() * sizeof(double));
    EXPECT_EQ(std::memcmp(bytes.data(), expected.data(), bytes.size()), 0);
  }
}

TEST(LongRuns, OldIterationsCanBeReadAndAreNotReplaced) {
  const Directory directory;
  test::Config config;
  config.shape = "[8]";
  OpenRun run(config, directory);
  ASSERT_TRUE(run.opened()) << run.error().message;
  constexpr int kIterations = 1500;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    const std::vector<double> values = test::block(iteration, 0, 8);
    ASSERT_EQ(tailrace_write(run, "a", iteration, values.data()), TAILRACE_OK);
    ASSERT_EQ(tailrace_end_iteration(run, iteration), TAILRACE_OK);
  }
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  EXPECT_EQ(run.stats().iterations_published, uint64_t{kIterations});
  std::vector<double> found(8);
  for (const int iteration : {0, 1, 700, kIterations - 1}) {
    ASSERT_EQ(tailrace_read(run, "a", iteration, found.data()), TAILRACE_OK) << run.error().message;
    EXPECT_EQ(found, test::block(iteration, 0, 8));
  }
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST(LongRuns, TooManyOpenIterationsAreRefused) {
  const Directory directory;
  test::Config config;
  config.shape = "[8]";
  OpenRun run(config, directory);
  ASSERT_TRUE(run.opened());
  const std::vector<double> values = test::block(0, 0, 8);
  int opened = 0;
  tailrace_status status = TAILRACE_OK;
  for (; opened < 1000 && status == TAILRACE_OK; ++opened) status = tailrace_write(run, "a", opened, values.data());
  ASSERT_EQ(status, TAILRACE_WRONG_ORDER);
  EXPECT_TRUE(run.error().says("end_iteration")) << run.error().message;
  EXPECT_EQ(run.error().iteration, opened - 1);
  EXPECT_EQ(tailrace_end_iteration(run, 0), TAILRACE_OK);
  EXPECT_EQ(tailrace_write(run, "a", opened - 1, values.data()), TAILRACE_OK);
  for (int iteration = 1; iteration < opened; ++iteration) {
    EXPECT_EQ(tailrace_end_iteration(run, iteration), TAILRACE_OK);
  }
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

// Many small blocks: the ring, the tickets and the pool wrap around many times.
TEST(LongRuns, ManySmallBlocksAndTickets) {
  const Directory directory;
  test::Config config;
  config.shape = "[8]";
  config.budget = "1 MiB";
  OpenRun run(config, directory);
  ASSERT_TRUE(run.opened());
  const std::vector<double> values = test::block(0, 0, 8);
  tailrace_ticket oldest{};
  ASSERT_EQ(tailrace_borrow(run, "b", 0, values.data(), &oldest), TAILRACE_OK);
  constexpr int kRounds = test::kSanitized ? 2000 : 20000;
  for (int i = 0; i < kRounds; ++i) {
    ASSERT_EQ(tailrace_write(run, "a", 0, values.data()), TAILRACE_OK);
    tailrace_ticket ticket{};
    ASSERT_EQ(tailrace_borrow(run, "b", 0, values.data(), &ticket), TAILRACE_OK);
  }
  EXPECT_EQ(tailrace_wait(oldest, -1), TAILRACE_OK);
  EXPECT_EQ(tailrace_end_iteration(run, 0), TAILRACE_OK);
  EXPECT_EQ(tailrace_flush(run), TAILRACE_OK);
  EXPECT_EQ(run.stats().blocks_written, uint64_t{2 * kRounds + 1});
  EXPECT_LE(run.stats().memory_peak, run.stats().memory_budget);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

}  // namespace
