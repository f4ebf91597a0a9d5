// Filtered variables through a whole session: what is published and read back is what was handed over, failures and
// drops work as for other variables, and when time is short the filters yield, not the client.
#include <gtest/gtest.h>

#include <cmath>
#include <thread>

#include "testing/blocks.hpp"

namespace tailrace::impl {
namespace {

// Variables a (zstd, 4 chunks of a page) and b (deflate, 4 chunks), and the plain c.
Config filtered_config(uint64_t pages, bool adaptive = false, std::vector<std::string> paths = {"out"}) {
  Config config = small_config(pages, std::move(paths));
  config.variables[0].compress = {Compressor::zstd, 3, true, 1024, adaptive};
  config.variables[1].compress = {Compressor::deflate, 6, true, 1024, adaptive};
  return config;
}

::testing::AssertionResult reads(Client& client, const char* variable, int64_t iteration, uint64_t number) {
  std::vector<std::byte> data(4096, std::byte{0xff});
  const Status status = client.read(variable, iteration, data.data());
  if (!status.ok()) return ::testing::AssertionFailure() << said(status);
  if (data != page(number)) return ::testing::AssertionFailure() << "other bytes";
  return ::testing::AssertionSuccess();
}

class SessionFiltering : public ::testing::TestWithParam<uint32_t> {
 protected:
  SessionRigOptions options() const { return {.filter_threads = GetParam()}; }
};

INSTANTIATE_TEST_SUITE_P(Threads, SessionFiltering, ::testing::Values(0u, 1u, 3u));

TEST_P(SessionFiltering, WhatIsPublishedIsWhatWasHandedOver) {
  SessionRig rig(filtered_config(8), options());
  for (int64_t iteration = 0; iteration < 20; ++iteration) {
    const auto number = static_cast<uint64_t>(3 * iteration);
    ASSERT_OK(rig.client().write("a", iteration, page(number).data()));
    ASSERT_OK(rig.client().write("b", iteration, page(number + 1).data()));
    ASSERT_OK(rig.client().write("c", iteration, block(100, number + 2).data()));
    ASSERT_OK(rig.client().end_iteration(iteration));
  }
  ASSERT_OK(rig.client().flush());
  EXPECT_EQ(rig.counters().iterations_published.get(), 20u) << "a flush waits for what is being filtered";
  rig.stop();
  EXPECT_TRUE(rig.told().empty());
  for (int64_t iteration = 0; iteration < 20; ++iteration) {
    const auto number = static_cast<uint64_t>(3 * iteration);
    const auto file = rig.published(iteration);
    ASSERT_NE(file, nullptr);
    EXPECT_EQ(file->read(iteration, "a"), page(number));
    EXPECT_EQ(file->read(iteration, "b"), page(number + 1));
    EXPECT_EQ(file->read(iteration, "c"), block(100, number + 2));
    EXPECT_LT(rig.bytes(rig.path(iteration))->size(), 65536u);
  }
  const VariableCounters& of = rig.counters(0);
  EXPECT_EQ(of.blocks_written.get(), 20u);
  EXPECT_EQ(of.bytes_written.get(), 20u * 4096u);
  EXPECT_EQ(of.chunks_filtered.get(), 80u);
  EXPECT_EQ(of.chunks_relaxed.get() + of.chunks_skipped.get(), 0u);
  EXPECT_EQ(of.bytes_filtered.get(), 20u * 4096u);
  EXPECT_LT(of.bytes_stored.get(), 20u * 4096u / 2);
  EXPECT_EQ(of.filtering.count(), 20u);
  EXPECT_EQ(of.queued.count(), 20u);
  EXPECT_EQ(rig.counters(2).chunks_filtered.get(), 0u);
}

TEST_P(SessionFiltering, TheLastOfTheBlocksOfAVariableCounts) {
  SessionRig rig(filtered_config(64), options());
  for (uint64_t number = 0; number < 40; ++number) {
    ASSERT_OK(rig.client().write("a", 0, page(number).data()));
    if (number % 7 == 0) {
      EXPECT_TRUE(reads(rig.client(), "a", 0, number));
    }
  }
  ASSERT_OK(rig.client().end_iteration(0));
  EXPECT_TRUE(reads(rig.client(), "a", 0, 39));
  rig.stop();
  EXPECT_EQ(rig.published(0)->read(0, "a"), page(39));
}

TEST_P(SessionFiltering, BorrowedBlocksAreGivenBackByTheirTickets) {
  SessionRig rig(filtered_config(4), options());
  std::vector<std::byte> data = page(5);
  const Result<uint64_t> ticket = rig.client().borrow("b", 0, data.data());
  ASSERT_OK(ticket.status());
  ASSERT_OK(rig.client().wait(ticket.value(), std::nullopt));
  std::fill(data.begin(), data.end(), std::byte{0xee});
  EXPECT_TRUE(reads(rig.client(), "b", 0, 5));
}

TEST_P(SessionFiltering, ReadsOfWhatWasNotWrittenAndOfEarlierRuns) {
  const ScratchDirectory directory;
  SessionRigOptions on_disk = options();
  on_disk.on_disk = true;
  {
    SessionRig rig(filtered_config(8, false, {directory.path()}), on_disk);
    ASSERT_OK(rig.client().write("a", 3, page(9).data()));
    ASSERT_OK(rig.client().end_iteration(3));
  }
  SessionRig rig(filtered_config(8, false, {directory.path()}), on_disk);
  EXPECT_TRUE(reads(rig.client(), "a", 3, 9));
  std::vector<std::byte> data(4096);
  EXPECT_EQ(rig.client().read("b", 3, data.data()).code(), TAILRACE_NOT_FOUND);
  EXPECT_EQ(rig.client().read("a", 4, data.data()).code(), TAILRACE_NOT_FOUND);
  EXPECT_TRUE(rig.told().empty());
}

TEST_P(SessionFiltering, RoundedToFloat16) {
  Config config = sample_config({"out"}, {{"h", ElementType::float32, {1000}}});
  config.memory.budget = 1 << 16;
  config.variables[0].precision = Precision::float16;
  config.variables[0].compress = {Compressor::zstd, 3, true, 1000, false};
  SessionRig rig(config, options());
  std::vector<float> values(1000);
  for (size_t i = 0; i < values.size(); ++i) values[i] = std::sin(static_cast<float>(i));
  ASSERT_OK(rig.client().write("h", 0, values.data()));
  std::vector<float> back(1000);
  ASSERT_OK(rig.client().read("h", 0, back.data()));
  for (size_t i = 0; i < values.size(); ++i) EXPECT_NEAR(back[i], values[i], 5e-4f) << i;
  ASSERT_OK(rig.client().end_iteration(0));
  rig.stop();
  EXPECT_EQ(rig.published(0)->read(0, "h")->size(), 2000u);
  EXPECT_EQ(rig.published(0)->texts("/data/0/meshes/h", "tailraceLossy"), std::vector<std::string>{"float16"});
}

TEST_P(SessionFiltering, AChunkThatFailsFailsItsBlockOnceAndItsIteration) {
  SessionRigOptions faulty = options();
  // Without end: chunks that went together are retried one by one.
  faulty.plan = {.rules = {{.on = FaultOn::write, .path_contains = "_000001.h5.part", .times = FaultRule::kForever}}};
  SessionRig rig(filtered_config(16), faulty);
  for (int64_t iteration = 0; iteration < 3; ++iteration) {
    ASSERT_OK(rig.client().write("a", iteration, page(1).data()));
    ASSERT_OK(rig.client().end_iteration(iteration));
  }
  ASSERT_OK(rig.client().flush());
  const std::vector<Fault> told = rig.told();
  ASSERT_EQ(told.size(), 2u);
  EXPECT_EQ(told[0].variable, "a");
  EXPECT_EQ(told[0].iteration, 1);
  EXPECT_EQ(told[0].system_errno, EIO);
  EXPECT_EQ(told[1].code, TAILRACE_NOT_PUBLISHED);
  std::vector<std::byte> data(4096);
  EXPECT_EQ(rig.client().read("a", 1, data.data()).fault().system_errno, EIO);
  rig.stop();
  EXPECT_EQ(rig.counters().blocks_failed.get(), 1u);
  EXPECT_EQ(rig.published(1), nullptr);
  EXPECT_EQ(rig.published(2)->read(2, "a"), page(1));
  rig.client().pool().collect();
  EXPECT_EQ(rig.client().pool().held(), 0u);
}

TEST_P(SessionFiltering, AFileThatCannotBeOpened) {
  SessionRigOptions faulty = options();
  faulty.plan = {.rules = {{.on = FaultOn::open, .path_contains = "_000000.h5", .times = FaultRule::kForever}}};
  SessionRig rig(filtered_config(16), faulty);
  ASSERT_OK(rig.client().write("a", 0, page(1).data()));
  ASSERT_OK(rig.client().write("b", 0, page(1).data()));
  ASSERT_OK(rig.client().end_iteration(0));
  ASSERT_OK(rig.client().flush());
  EXPECT_EQ(rig.told().size(), 3u) << "two blocks, and the iteration";
}

TEST_P(SessionFiltering, AReadThatFailsLosesNothing) {
  SessionRigOptions faulty = options();
  faulty.plan = {.rules = {{.on = FaultOn::read, .times = 2}}};  // all together, and then the first of them
  SessionRig rig(filtered_config(8), faulty);
  ASSERT_OK(rig.client().write("a", 0, page(1).data()));
  ASSERT_OK(rig.client().flush());  // so that it is read from storage
  std::vector<std::byte> data(4096);
  EXPECT_EQ(rig.client().read("a", 0, data.data()).fault().system_errno, EIO);
  EXPECT_TRUE(reads(rig.client(), "a", 0, 1));
  ASSERT_OK(rig.client().end_iteration(0));
  rig.stop();
  EXPECT_EQ(rig.published(0)->read(0, "a"), page(1));
}

TEST_P(SessionFiltering, ADroppedIterationLeavesNothing) {
  Config config = filtered_config(2);
  config.memory.when_full = WhenFull::drop;
  SessionRigOptions shut = options();
  shut.shut = true;
  SessionRig rig(config, shut);
  ASSERT_OK(rig.client().write("a", 0, page(1).data()));
  ASSERT_OK(rig.client().write("a", 1, page(2).data()));
  EXPECT_EQ(rig.client().write("b", 1, page(3).data()).code(), TAILRACE_DROPPED);
  ASSERT_OK(rig.client().end_iteration(0));
  EXPECT_EQ(rig.client().end_iteration(1).code(), TAILRACE_DROPPED);
  rig.gate().open();
  ASSERT_OK(rig.client().flush());
  std::vector<std::byte> data(4096);
  EXPECT_FALSE(rig.client().read("a", 1, data.data()).ok());
  rig.stop();
  EXPECT_EQ(rig.published(0)->read(0, "a"), page(1));
  EXPECT_FALSE(rig.exists(rig.path(1)));
  EXPECT_FALSE(rig.exists(rig.path(1) + ".part"));
  rig.client().pool().collect();
  EXPECT_EQ(rig.client().pool().held(), 0u);
}

TEST_P(SessionFiltering, MoreChunksThanTheEngineHasRoomFor) {
  SessionRigOptions small = options();
  small.engine.max_pending = FileGroup::kRequestsAtOnce;
  SessionRig rig(filtered_config(64), small);
  for (int64_t iteration = 0; iteration < 10; ++iteration) {
    for (const char* variable : {"a", "b", "c"}) {
      ASSERT_OK(rig.client().write(variable, iteration, page(static_cast<uint64_t>(iteration)).data()));
    }
    ASSERT_OK(rig.client().end_iteration(iteration));
  }
  ASSERT_OK(rig.client().flush());
  rig.stop();
  EXPECT_EQ(rig.counters().iterations_published.get(), 10u);
  EXPECT_EQ(rig.published(7)->read(7, "b"), page(7));
}

// The first block takes all buffers, and keeps them while the gate is shut: the second one begins when the third is
// there, which belongs to a later iteration.
TEST(SessionFilteringInHaste, WhenTheProgramIsAheadChunksAreRelaxed) {
  SessionRig rig(filtered_config(16, true), {.shut = true, .filter_threads = 0});
  for (int64_t iteration = 0; iteration < 3; ++iteration) {
    ASSERT_OK(rig.client().write(iteration == 1 ? "b" : "a", iteration, page(1).data()));
    ASSERT_OK(rig.client().end_iteration(iteration));
  }
  while (rig.iterations().size() < 3) std::this_thread::yield();
  rig.gate().open();
  ASSERT_OK(rig.client().flush());
  rig.stop();
  EXPECT_EQ(rig.counters(1).chunks_filtered.get(), 4u);
  EXPECT_EQ(rig.counters(1).chunks_relaxed.get(), 4u);
  EXPECT_LE(rig.counters(0).chunks_relaxed.get(), 4u) << "the last had time";
  EXPECT_EQ(rig.counters(0).chunks_skipped.get() + rig.counters(1).chunks_skipped.get(), 0u);
  for (int64_t iteration = 0; iteration < 3; ++iteration) {
    EXPECT_EQ(rig.published(iteration)->read(iteration, iteration == 1 ? "b" : "a"), page(1)) << iteration;
  }
}

// While the gate is shut nothing is written and no buffer comes back, so unfiltered chunks must need none.
TEST(SessionFilteringInHaste, WhatIsLeftOutIsWrittenFromItsBlock) {
  for (const uint32_t threads : {0u, 2u}) {
    SessionRig rig(filtered_config(16, true), {.shut = true, .filter_threads = threads});
    for (int64_t iteration = 0; iteration < 16; ++iteration) {
      const char* const variable = iteration % 2 == 0 ? "a" : "b";
      ASSERT_OK(rig.client().write(variable, iteration, page(static_cast<uint64_t>(iteration)).data()));
      ASSERT_OK(rig.client().end_iteration(iteration));
    }
    const auto chunks = [&rig] {
      return rig.counters(0).chunks_filtered.get() + rig.counters(1).chunks_filtered.get();
    };
    while (chunks() < 64) std::this_thread::yield();
    const uint64_t buffers = FilterCrew::kBegunAhead * threads + FilterCrew::kBuffersBeside;
    EXPECT_GE(rig.counters(0).chunks_skipped.get() + rig.counters(1).chunks_skipped.get(), 64 - buffers);
    rig.gate().open();
    ASSERT_OK(rig.client().flush());
    rig.stop();
    EXPECT_TRUE(rig.told().empty());
    for (int64_t iteration = 0; iteration < 16; ++iteration) {
      EXPECT_EQ(rig.published(iteration)->read(iteration, iteration % 2 == 0 ? "a" : "b"),
                page(static_cast<uint64_t>(iteration)))
          << iteration;
    }
  }
}

// Unfiltered blocks use most of the memory: only the client's wait shows that there is haste.
TEST(SessionFilteringInHaste, WhileTheClientWaitsForMemoryNothingIsFiltered) {
  Config config = filtered_config(8, true);
  config.variables[1].compress = {};
  SessionRig rig(config, {.shut = true, .filter_threads = 0});
  for (uint64_t i = 0; i < 6; ++i) ASSERT_OK(rig.client().write("b", 0, page(i).data()));
  for (uint64_t i = 0; i < 2; ++i) ASSERT_OK(rig.client().write("a", 0, page(10 + i).data()));
  std::thread opener([&rig] {
    while (rig.counters(0).chunks_filtered.get() < 8) std::this_thread::yield();
    rig.gate().open();
  });
  ASSERT_OK(rig.client().write("b", 0, page(7).data()));
  opener.join();
  ASSERT_OK(rig.client().end_iteration(0));
  rig.stop();
  EXPECT_EQ(rig.counters(0).chunks_relaxed.get(), 0u);
  EXPECT_GE(rig.counters(0).chunks_skipped.get(), 4u);
  EXPECT_EQ(rig.published(0)->read(0, "a"), page(11));
  EXPECT_EQ(rig.published(0)->read(0, "b"), page(7));
}

TEST(SessionFilteringInHaste, NeverIfTheConfigurationSaysSo) {
  SessionRig rig(filtered_config(16, false), {.shut = true, .filter_threads = 0});
  for (int64_t iteration = 0; iteration < 16; ++iteration) {
    ASSERT_OK(rig.client().write("a", iteration, page(1).data()));
    ASSERT_OK(rig.client().end_iteration(iteration));
  }
  rig.gate().open();
  rig.stop();
  EXPECT_EQ(rig.counters(0).chunks_filtered.get(), 64u);
  EXPECT_EQ(rig.counters(0).chunks_relaxed.get() + rig.counters(0).chunks_skipped.get(), 0u);
}

}  // namespace
}  // namespace tailrace::impl
