// The counts and times of tailrace_get_variable_stats agree with the calls, with their ends, and with the client's
// totals: in good runs, for each `when_full`, and when storage fails.
#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <functional>

#include "on_back_end.hpp"
#include "private_mount.hpp"

namespace {

using test::Config;
using test::Directory;
using test::OpenRun;

constexpr std::array kVariables = {"a", "b", "c", "d", "e", "f"};
constexpr uint64_t kBytes = 65536;  // of a block

// The sum of one member over all variables.
uint64_t sum(tailrace_client* client, const std::function<uint64_t(const tailrace_variable_stats&)>& member) {
  uint64_t sum = 0;
  for (const char* variable : kVariables) sum += member(test::stats_of(client, variable));
  return sum;
}

// Checks that hold for any times.
void expect_sane(const tailrace_times& times) {
  EXPECT_LE(times.p50, times.p90);
  EXPECT_LE(times.p90, times.p99);
  EXPECT_LE(times.p99, times.most);
  EXPECT_LE(times.most, times.total);
  const double count = static_cast<double>(times.count);
  EXPECT_LE(times.total, times.most * count * 1.000001);
  EXPECT_NEAR(times.mean * count, times.total, times.total * 1e-9);
  if (times.count == 0) {
    EXPECT_EQ(times.most, 0.0);
  }
}

// Checks that hold at any moment when everything handed over has ended.
void expect_adds_up(tailrace_client* client) {
  using Stats = tailrace_variable_stats;
  const tailrace_stats totals = test::stats_of(client);
  for (const char* variable : kVariables) {
    SCOPED_TRACE(variable);
    const Stats of = test::stats_of(client, variable);
    EXPECT_EQ(of.blocks_accepted, of.blocks_written + of.blocks_failed);
    EXPECT_LE(of.blocks_merged, of.blocks_accepted);
    EXPECT_LE(of.blocks_written_through, of.blocks_accepted);
    EXPECT_EQ(of.bytes_accepted, of.blocks_accepted * kBytes);
    EXPECT_EQ(of.bytes_written, of.blocks_written * kBytes);
    EXPECT_EQ(of.handover.count, of.blocks_accepted);
    EXPECT_EQ(of.queued.count, of.writing.count);
    // A block whose file could not be made was never queued.
    EXPECT_GE(of.queued.count, of.blocks_written);
    EXPECT_LE(of.queued.count, of.blocks_accepted);
    for (const tailrace_times* times : {&of.handover, &of.waiting, &of.queued, &of.writing}) expect_sane(*times);
  }
  EXPECT_EQ(sum(client, [](const Stats& of) { return of.blocks_accepted; }), totals.blocks_accepted);
  EXPECT_EQ(sum(client, [](const Stats& of) { return of.blocks_written; }), totals.blocks_written);
  EXPECT_EQ(sum(client, [](const Stats& of) { return of.blocks_failed; }), totals.blocks_failed);
  EXPECT_EQ(sum(client, [](const Stats& of) { return of.blocks_written_through; }), totals.blocks_written_through);
  EXPECT_EQ(sum(client, [](const Stats& of) { return of.bytes_accepted; }), totals.bytes_accepted);
  EXPECT_EQ(sum(client, [](const Stats& of) { return of.bytes_written; }), totals.bytes_written);
  EXPECT_LE(sum(client, [](const Stats& of) { return of.blocks_refused; }), totals.blocks_dropped);
  EXPECT_LE(sum(client, [](const Stats& of) { return of.blocks_merged; }), totals.requests_merged);
  EXPECT_LE(totals.transfers_direct, totals.transfers);
  EXPECT_LE(totals.transfer_fallbacks, totals.transfers_direct);
}

// Hands over one block of each verb (`a` by write, `b` by alloc and commit, `c` by borrow).
void hand_over_each_way(tailrace_client* client, int64_t iteration) {
  const std::vector<double> values = test::block(iteration, 0);
  void* memory = nullptr;
  tailrace_ticket ticket;
  ASSERT_EQ(tailrace_write(client, "a", iteration, values.data()), TAILRACE_OK);
  ASSERT_EQ(tailrace_alloc(client, "b", iteration, &memory), TAILRACE_OK);
  ASSERT_EQ(tailrace_alloc(client, "b", iteration, &memory), TAILRACE_OK);  // the same block
  std::memcpy(memory, values.data(), kBytes);
  ASSERT_EQ(tailrace_commit(client, "b", iteration), TAILRACE_OK);
  ASSERT_EQ(tailrace_borrow(client, "c", iteration, values.data(), &ticket), TAILRACE_OK);
  ASSERT_EQ(tailrace_wait(ticket, -1), TAILRACE_OK);
  ASSERT_EQ(tailrace_end_iteration(client, iteration), TAILRACE_OK);
}

class VariableStats : public test::OnBackEnd {};

INSTANTIATE_TEST_SUITE_P(BackEnds, VariableStats, ::testing::Values("posix", "uring", "memory"),
                         [](const auto& test) { return test.param; });

TEST_P(VariableStats, AddUpOverAllVerbs) {
  OpenRun run(config(), directory_);
  OPEN_OR_SKIP(run);
  constexpr uint64_t kIterations = 20;
  for (uint64_t i = 0; i < kIterations; ++i) hand_over_each_way(run, static_cast<int64_t>(i));
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  expect_adds_up(run);
  for (const char* variable : {"a", "b", "c"}) {
    const tailrace_variable_stats of = test::stats_of(run, variable);
    EXPECT_EQ(of.struct_size, sizeof of);
    EXPECT_EQ(of.blocks_accepted, kIterations);
    EXPECT_EQ(of.blocks_written, kIterations);
    EXPECT_EQ(of.writing.count, kIterations);
    EXPECT_EQ(of.blocks_refused, 0U);
    EXPECT_GT(of.handover.most, 0.0);
    EXPECT_GT(of.writing.most, 0.0);
  }
  EXPECT_EQ(test::stats_of(run, "a").waiting.count, 0U);
  EXPECT_LE(test::stats_of(run, "c").waiting.count, kIterations);  // not counted where it had ended already
  std::vector<double> found(8192);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(tailrace_read(run, "a", 7, found.data()), TAILRACE_OK);
  EXPECT_EQ(test::stats_of(run, "a").waiting.count, 3U);
  EXPECT_EQ(test::stats_of(run, "f").blocks_accepted, 0U);
  EXPECT_EQ(test::stats_of(run, "f").handover.most, 0.0);
  EXPECT_GT(run.stats().requests_peak, 0U);
  EXPECT_GE(run.stats().transfers, 3 * kIterations / 2);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST_P(VariableStats, RefusedCallsAreNotCounted) {
  OpenRun run(config(), directory_);
  OPEN_OR_SKIP(run);
  const std::vector<double> values = test::block(0, 0);
  tailrace_ticket ticket;
  void* memory = nullptr;
  EXPECT_EQ(tailrace_write(run, "a", 0, nullptr), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_write(run, "a", -1, values.data()), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_borrow(run, "a", -1, values.data(), &ticket), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_alloc(run, "a", -1, &memory), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_commit(run, "a", 0), TAILRACE_WRONG_ORDER);
  ASSERT_EQ(tailrace_end_iteration(run, 5), TAILRACE_OK);
  EXPECT_EQ(tailrace_write(run, "a", 5, values.data()), TAILRACE_WRONG_ORDER);
  const tailrace_variable_stats of = test::stats_of(run, "a");
  tailrace_variable_stats nothing{};
  nothing.struct_size = sizeof nothing;
  EXPECT_EQ(std::memcmp(&of, &nothing, sizeof of), 0);
  // Memory that is allocated and never handed over is not a hand-over.
  ASSERT_EQ(tailrace_alloc(run, "b", 0, &memory), TAILRACE_OK);
  EXPECT_EQ(test::stats_of(run, "b").handover.count, 0U);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST_P(VariableStats, AreSeenBeforeATicketHasEnded) {
  OpenRun run(config(), directory_);
  OPEN_OR_SKIP(run);
  const std::vector<double> values = test::block(0, 0);
  for (uint64_t i = 1; i <= 50; ++i) {
    tailrace_ticket ticket;
    ASSERT_EQ(tailrace_borrow(run, "d", 0, values.data(), &ticket), TAILRACE_OK);
    ASSERT_EQ(tailrace_wait(ticket, -1), TAILRACE_OK);
    const tailrace_variable_stats of = test::stats_of(run, "d");
    ASSERT_EQ(of.blocks_written, i);
    ASSERT_EQ(of.writing.count, i);
    ASSERT_EQ(of.queued.count, i);
  }
  ASSERT_EQ(tailrace_end_iteration(run, 0), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

// ---- arguments -----------------------------------------------------------------------------------------------

TEST(VariableStatsArguments, AreChecked) {
  const Directory directory;
  OpenRun run(Config(), directory);
  ASSERT_TRUE(run.opened()) << run.error().message;
  tailrace_variable_stats stats{};
  EXPECT_EQ(tailrace_get_variable_stats(nullptr, "a", &stats), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_get_variable_stats(run, "a", &stats), TAILRACE_INVALID_ARGUMENT);  // no struct_size
  stats.struct_size = sizeof stats;
  EXPECT_EQ(tailrace_get_variable_stats(run, nullptr, &stats), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_get_variable_stats(run, "a", nullptr), TAILRACE_INVALID_ARGUMENT);
  EXPECT_FALSE(run.error().message.empty());
  EXPECT_EQ(tailrace_get_variable_stats(run, "g", &stats), TAILRACE_UNKNOWN_VARIABLE);
  EXPECT_TRUE(run.error().says("'g'")) << run.error().message;
  EXPECT_EQ(tailrace_get_variable_stats(run, "", &stats), TAILRACE_UNKNOWN_VARIABLE);
  EXPECT_EQ(tailrace_get_variable_stats(run, "a", &stats), TAILRACE_OK);
  tailrace_client* const client = run.get();
  EXPECT_EQ(run.close(), TAILRACE_OK);
  EXPECT_EQ(tailrace_get_variable_stats(client, "a", &stats), TAILRACE_CLOSED);
}

TEST(VariableStatsArguments, AnOlderCallerGetsWhatItKnows) {
  const Directory directory;
  OpenRun run(Config(), directory);
  ASSERT_TRUE(run.opened()) << run.error().message;
  hand_over_each_way(run, 0);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  tailrace_variable_stats stats;
  for (const size_t known : {sizeof stats.struct_size, offsetof(tailrace_variable_stats, blocks_failed),
                             offsetof(tailrace_variable_stats, queued), sizeof stats}) {
    std::memset(&stats, 0x5a, sizeof stats);
    stats.struct_size = known;
    ASSERT_EQ(tailrace_get_variable_stats(run, "a", &stats), TAILRACE_OK);
    EXPECT_EQ(stats.struct_size, known);
    const auto* const bytes = reinterpret_cast<const unsigned char*>(&stats);
    for (size_t i = known; i < sizeof stats; ++i) ASSERT_EQ(bytes[i], 0x5a) << i << " of " << known;
    if (known > offsetof(tailrace_variable_stats, blocks_written)) {
      EXPECT_EQ(stats.blocks_written, 1U);
    }
  }
  // Further members, of a newer caller, are not touched.
  struct Newer {
    tailrace_variable_stats stats;
    uint64_t more;
  } newer{};
  newer.stats.struct_size = sizeof newer;
  newer.more = 7;
  ASSERT_EQ(tailrace_get_variable_stats(run, "a", &newer.stats), TAILRACE_OK);
  EXPECT_EQ(newer.more, 7U);
  EXPECT_EQ(newer.stats.writing.count, 1U);
  // Likewise of the totals, whose last members are newer than their first.
  tailrace_stats totals;
  std::memset(&totals, 0x5a, sizeof totals);
  totals.struct_size = offsetof(tailrace_stats, requests_merged);
  ASSERT_EQ(tailrace_get_stats(run, &totals), TAILRACE_OK);
  EXPECT_EQ(totals.blocks_written, 3U);
  EXPECT_EQ(totals.transfers, 0x5a5a5a5a5a5a5a5aU);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

// ---- when memory is full -------------------------------------------------------------------------------------

class StatsWhenFull : public ::testing::Test {
 protected:
  static Config config(const std::string& when_full) {
    Config config;
    config.budget = "1 MiB";
    config.when_full = when_full;
    return config;
  }
  // Allocates all 16 blocks of the budget, of `a` and `b` in iterations 100 to 107.
  static void hold_all(tailrace_client* client) {
    void* memory = nullptr;
    for (int i = 0; i < 16; ++i) {
      ASSERT_EQ(tailrace_alloc(client, kVariables[i % 2], 100 + i / 2, &memory), TAILRACE_OK);
      std::memset(memory, i, kBytes);
    }
  }
  static void commit_all(tailrace_client* client) {
    for (int i = 0; i < 16; ++i) ASSERT_EQ(tailrace_commit(client, kVariables[i % 2], 100 + i / 2), TAILRACE_OK);
    for (int i = 100; i < 108; ++i) ASSERT_EQ(tailrace_end_iteration(client, i), TAILRACE_OK);
  }

  Directory directory_;
  const std::vector<double> values_ = test::block(200, 2);
};

TEST_F(StatsWhenFull, BlockCountsEachBlockOnce) {
  OpenRun run(config("block"), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  constexpr uint64_t kIterations = 30;
  for (uint64_t i = 0; i < kIterations; ++i) {
    const auto iteration = static_cast<int64_t>(i);
    for (const char* variable : kVariables) {
      ASSERT_EQ(tailrace_write(run, variable, iteration, values_.data()), TAILRACE_OK);
    }
    ASSERT_EQ(tailrace_end_iteration(run, iteration), TAILRACE_OK);
  }
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  expect_adds_up(run);
  for (const char* variable : kVariables) EXPECT_EQ(test::stats_of(run, variable).blocks_written, kIterations);
  // A block without room, since the caller holds the whole budget, is refused, not counted.
  hold_all(run);
  EXPECT_EQ(tailrace_write(run, "c", 200, values_.data()), TAILRACE_BUDGET_HELD);
  EXPECT_EQ(test::stats_of(run, "c").handover.count, kIterations);
  EXPECT_EQ(test::stats_of(run, "c").blocks_refused, 0U);
  commit_all(run);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST_F(StatsWhenFull, SyncCountsWhatIsWrittenThrough) {
  OpenRun run(config("sync"), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  hold_all(run);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(tailrace_write(run, "c", 200 + i, values_.data()), TAILRACE_OK);
  const tailrace_variable_stats through = test::stats_of(run, "c");
  EXPECT_EQ(through.blocks_written_through, 3U);
  EXPECT_EQ(through.blocks_accepted, 3U);
  EXPECT_EQ(through.blocks_written, 3U);
  EXPECT_EQ(through.handover.count, 3U);
  EXPECT_LE(through.waiting.count, 3U);  // its time in write is waiting, once it is on its way
  commit_all(run);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(tailrace_end_iteration(run, 200 + i), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  EXPECT_EQ(test::stats_of(run, "a").blocks_written_through, 0U);
  expect_adds_up(run);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST_F(StatsWhenFull, DropCountsWhatIsRefused) {
  OpenRun run(config("drop"), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  ASSERT_EQ(tailrace_write(run, "c", 200, values_.data()), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);  // accepted, written, and then discarded
  hold_all(run);
  void* memory = nullptr;
  tailrace_ticket ticket;
  EXPECT_EQ(tailrace_write(run, "c", 200, values_.data()), TAILRACE_DROPPED);
  EXPECT_EQ(tailrace_write(run, "d", 200, values_.data()), TAILRACE_DROPPED);
  EXPECT_EQ(tailrace_alloc(run, "d", 200, &memory), TAILRACE_DROPPED);
  EXPECT_EQ(tailrace_borrow(run, "e", 200, values_.data(), &ticket), TAILRACE_DROPPED);
  EXPECT_EQ(tailrace_alloc(run, "c", 107, &memory), TAILRACE_DROPPED);  // and its two blocks with it
  EXPECT_EQ(tailrace_commit(run, "a", 107), TAILRACE_DROPPED);
  EXPECT_EQ(tailrace_commit(run, "b", 107), TAILRACE_DROPPED);
  EXPECT_EQ(tailrace_end_iteration(run, 107), TAILRACE_DROPPED);
  EXPECT_EQ(tailrace_end_iteration(run, 200), TAILRACE_DROPPED);
  for (int i = 0; i < 14; ++i) ASSERT_EQ(tailrace_commit(run, kVariables[i % 2], 100 + i / 2), TAILRACE_OK);
  for (int i = 100; i < 107; ++i) ASSERT_EQ(tailrace_end_iteration(run, i), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  const std::array<uint64_t, 6> refused = {1, 1, 2, 2, 1, 0};
  for (size_t i = 0; i < refused.size(); ++i) {
    EXPECT_EQ(test::stats_of(run, kVariables[i]).blocks_refused, refused[i]) << kVariables[i];
  }
  EXPECT_EQ(test::stats_of(run, "a").blocks_accepted, 7U);
  EXPECT_EQ(test::stats_of(run, "c").blocks_accepted, 1U);
  EXPECT_EQ(run.stats().blocks_dropped, 7U + 1U);  // those refused, and one that was discarded
  expect_adds_up(run);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

// ---- when storage fails --------------------------------------------------------------------------------------

// Hands over all variables of an iteration, ignores reported failures, and waits until all has ended.
void write_iteration(tailrace_client* client, int64_t iteration) {
  for (const char* variable : kVariables) {
    const std::vector<double> values = test::block(iteration, 1);
    tailrace_write(client, variable, iteration, values.data());
  }
  tailrace_end_iteration(client, iteration);
  while (tailrace_flush(client) == TAILRACE_EARLIER_FAILURE) {
  }
}

class StatsOfFailures : public VariableStats {};

INSTANTIATE_TEST_SUITE_P(BackEnds, StatsOfFailures, ::testing::Values("posix", "uring"),
                         [](const auto& test) { return test.param; });

TEST_P(StatsOfFailures, CountWhatAFullDiskFails) {
  const auto disk = test::PrivateMount::small_disk(directory_.path(), "1m");
  if (!disk.ok()) GTEST_SKIP() << "mounting a small tmpfs: " << std::strerror(errno);
  OpenRun run(config(), directory_);
  OPEN_OR_SKIP(run);
  for (int64_t iteration = 0; iteration < 5; ++iteration) write_iteration(run, iteration);
  expect_adds_up(run);
  EXPECT_EQ(run.stats().blocks_accepted, 30U);
  EXPECT_GE(run.stats().blocks_failed, 6U);
  EXPECT_GE(run.stats().blocks_written, 12U);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST_P(StatsOfFailures, CountWhatCouldNotBeOpened) {
  auto disk = test::PrivateMount::small_disk(directory_.path(), "8m");
  if (!disk.ok()) GTEST_SKIP() << "mounting a small tmpfs: " << std::strerror(errno);
  OpenRun run(config(), directory_);
  OPEN_OR_SKIP(run);
  write_iteration(run, 0);
  ASSERT_TRUE(disk.turn_read_only()) << std::strerror(errno);
  write_iteration(run, 1);
  expect_adds_up(run);
  for (const char* variable : kVariables) {
    const tailrace_variable_stats of = test::stats_of(run, variable);
    EXPECT_EQ(of.blocks_written, 1U);
    EXPECT_EQ(of.blocks_failed, 1U);
    EXPECT_EQ(of.writing.count, 2U);  // the other waited for the opening
  }
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST_P(StatsOfFailures, CountABorrowedBlockThatFails) {
  const auto disk = test::PrivateMount::small_disk(directory_.path(), "68k");
  if (!disk.ok()) GTEST_SKIP() << "mounting a small tmpfs: " << std::strerror(errno);
  OpenRun run(config(), directory_);
  OPEN_OR_SKIP(run);
  const std::vector<double> values = test::block(0, 0);
  for (const char* variable : {"a", "b"}) {
    tailrace_ticket ticket;
    ASSERT_EQ(tailrace_borrow(run, variable, 0, values.data(), &ticket), TAILRACE_OK);
    EXPECT_EQ(tailrace_wait(ticket, -1), *variable == 'a' ? TAILRACE_OK : TAILRACE_IO_ERROR);
  }
  expect_adds_up(run);
  EXPECT_EQ(test::stats_of(run, "a").blocks_written, 1U);
  EXPECT_EQ(test::stats_of(run, "b").blocks_failed, 1U);
  EXPECT_EQ(run.close(), TAILRACE_EARLIER_FAILURE);  // iteration 0 was never ended
}

// Asking for statistics reports no failures, and leaves them to other calls.
TEST_F(StatsWhenFull, TellNoFailures) {
  const auto disk = test::PrivateMount::small_disk(directory_.path(), "68k");
  if (!disk.ok()) GTEST_SKIP() << "mounting a small tmpfs: " << std::strerror(errno);
  OpenRun run(config("block"), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  ASSERT_EQ(tailrace_write(run, "a", 0, values_.data()), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);  // else `a` and `b` are written at once, and either takes the room
  ASSERT_EQ(tailrace_write(run, "b", 0, values_.data()), TAILRACE_OK);
  test::await_failures(run, 1);
  tailrace_variable_stats stats{};
  stats.struct_size = sizeof stats;
  EXPECT_EQ(tailrace_get_variable_stats(run, "b", &stats), TAILRACE_OK);
  EXPECT_EQ(tailrace_flush(run), TAILRACE_EARLIER_FAILURE);
  EXPECT_EQ(run.error().variable, "b");
  EXPECT_EQ(run.close(), TAILRACE_EARLIER_FAILURE);  // iteration 0 was never ended
}

}  // namespace
