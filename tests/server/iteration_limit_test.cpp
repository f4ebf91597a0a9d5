// Promise 2, for iterations: no more are unfinished at once than their files and metadata may need, and at that limit
// each `when_full` behaves as at a full budget.
//
// The storage opens exactly as many files as the limit allows: beyond it, a file cannot be opened and an iteration is
// lost.
#include <gtest/gtest.h>

#include <thread>

#include "server/iteration_limit.hpp"
#include "testing/blocks.hpp"

namespace tailrace::impl {
namespace {

constexpr uint32_t kLimit = 3;
constexpr uint64_t kPages = 1000;  // memory is never full

Config limited(WhenFull when_full) {
  Config config = small_config(kPages);
  config.memory.when_full = when_full;
  config.memory.iterations = kLimit;
  return config;
}

std::thread open_after(SessionRig& rig, uint64_t count) {
  return std::thread([&rig, count] {
    rig.gate().wait_for(count);
    rig.gate().open();
  });
}

void write_one(Client& client, int64_t iteration) {
  ASSERT_OK(client.write("a", iteration, page(static_cast<uint64_t>(iteration)).data()));
  ASSERT_OK(client.end_iteration(iteration));
}

// Block and sync wait: a new iteration has no bytes to write through.
TEST(IterationLimit, BlockAndSyncWaitAndLoseNothing) {
  for (const WhenFull when_full : {WhenFull::block, WhenFull::sync}) {
    SessionRig rig(limited(when_full), {.plan = {.most_open = kLimit}, .shut = true});
    constexpr int64_t kIterations = 50;
    for (int64_t iteration = 0; iteration < kLimit; ++iteration) write_one(rig.client(), iteration);
    std::thread opener = open_after(rig, 1);
    for (int64_t iteration = kLimit; iteration < kIterations; ++iteration) write_one(rig.client(), iteration);
    opener.join();
    rig.stop();
    EXPECT_TRUE(rig.told().empty());
    EXPECT_EQ(rig.counters().iterations_published.get(), uint64_t{kIterations});
    EXPECT_EQ(rig.client().counters().iterations_peak, kLimit);
    EXPECT_EQ(rig.client().counters().blocks_written_through, 0u);
    for (int64_t iteration = 0; iteration < kIterations; ++iteration) {
      EXPECT_EQ(rig.published(iteration)->read(iteration, "a"), page(static_cast<uint64_t>(iteration)));
    }
    size_t said = 0;
    for (const auto& [level, line] : rig.log().lines())
      said += line.find("waits for iterations") != std::string::npos;
    EXPECT_LE(said, 1u) << "once, however often it has waited";
  }
}

// Through each verb that begins an iteration.
TEST(IterationLimit, EachVerbWaits) {
  SessionRig rig(limited(WhenFull::block), {.plan = {.most_open = kLimit}, .shut = true});
  Client& client = rig.client();
  for (int64_t iteration = 0; iteration < kLimit; ++iteration) write_one(client, iteration);
  std::thread opener = open_after(rig, 1);
  ASSERT_OK(client.alloc("a", 10).status());
  opener.join();
  ASSERT_OK(client.commit("a", 10));
  ASSERT_OK(client.end_iteration(10));
  for (int64_t iteration = 20; iteration < 40; ++iteration) {
    ASSERT_OK(client.signal("event", iteration));
    ASSERT_OK(client.end_iteration(iteration));
  }
  const std::vector<std::byte> bytes = page(1);
  for (int64_t iteration = 40; iteration < 60; ++iteration) {
    ASSERT_OK(client.borrow("a", iteration, bytes.data()).status());
    ASSERT_OK(client.end_iteration(iteration));
  }
  rig.stop();
  EXPECT_TRUE(rig.told().empty());
  EXPECT_EQ(rig.counters().iterations_published.get(), kLimit + 41u);
  EXPECT_LE(client.counters().iterations_peak, kLimit);
}

TEST(IterationLimit, WhatTheCallerKeepsOpenIsToldAtOnce) {
  for (const WhenFull when_full : {WhenFull::block, WhenFull::sync, WhenFull::drop}) {
    SessionRig rig(limited(when_full), {.plan = {.most_open = kLimit}, .shut = true});
    Client& client = rig.client();
    for (int64_t iteration = 0; iteration < kLimit; ++iteration) {
      ASSERT_OK(client.write("a", iteration, page(1).data()));
    }
    const Status refused = client.write("a", 7, page(1).data());
    EXPECT_EQ(refused.code(), TAILRACE_WRONG_ORDER);
    EXPECT_NE(refused.fault().message.find("3 iterations are open"), std::string::npos) << refused.fault().message;
    EXPECT_EQ(refused.fault().iteration, 7);
    for (int64_t iteration = 0; iteration < kLimit; ++iteration) ASSERT_OK(client.end_iteration(iteration));
    rig.gate().open();
    ASSERT_OK(client.flush());
    write_one(client, 7);
    rig.stop();
    EXPECT_EQ(rig.counters().iterations_published.get(), kLimit + 1u);
    EXPECT_TRUE(rig.told().empty());
  }
}

TEST(IterationLimit, DropGivesUpWholeIterations) {
  SessionRig rig(limited(WhenFull::drop), {.plan = {.most_open = kLimit + 1}, .shut = true});  // with the journal
  Client& client = rig.client();
  for (int64_t iteration = 0; iteration < kLimit; ++iteration) write_one(client, iteration);
  const Status dropped = client.write("a", 3, page(1).data());
  EXPECT_EQ(dropped.code(), TAILRACE_DROPPED);
  EXPECT_EQ(dropped.fault().iteration, 3);
  EXPECT_NE(dropped.fault().message.find("3 iterations are unfinished"), std::string::npos)
      << dropped.fault().message;
  EXPECT_EQ(client.write("b", 3, page(1).data()).code(), TAILRACE_DROPPED);
  EXPECT_EQ(client.alloc("b", 3).status().code(), TAILRACE_DROPPED);
  EXPECT_EQ(client.signal("event", 3).code(), TAILRACE_DROPPED);
  EXPECT_EQ(client.end_iteration(3).code(), TAILRACE_DROPPED);
  EXPECT_EQ(client.signal("event", 4).code(), TAILRACE_DROPPED);
  EXPECT_EQ(client.end_iteration(4).code(), TAILRACE_DROPPED);
  rig.gate().open();
  ASSERT_OK(client.flush());
  write_one(client, 5);
  ASSERT_OK(client.flush());
  EXPECT_EQ(client.read("a", 3, std::vector<std::byte>(4096).data()).code(), TAILRACE_NOT_FOUND);
  rig.stop();
  EXPECT_TRUE(rig.told().empty());
  for (const int64_t iteration : {0, 1, 2, 5}) EXPECT_NE(rig.published(iteration), nullptr) << iteration;
  for (const int64_t iteration : {3, 4}) EXPECT_FALSE(rig.exists(rig.path(iteration))) << iteration;
  EXPECT_EQ(client.counters().iterations_dropped, 2u);
  EXPECT_EQ(client.counters().blocks_dropped, 3u);
  const auto journal = rig.bytes("out/sim_c0.dropped");
  ASSERT_TRUE(journal.has_value());
  EXPECT_EQ(
      std::string(reinterpret_cast<const char*>(journal->data()), journal->size()),
      "iteration 3: dropped, 3 iterations were unfinished\niteration 4: dropped, 3 iterations were unfinished\n");
}

// However an iteration leaves, another may begin.
TEST(IterationLimit, FailuresGiveRoomToo) {
  for (const FaultOn on : {FaultOn::open, FaultOn::write, FaultOn::rename}) {
    const FaultPlan plan{
        .most_open = kLimit,
        .rules = {{.on = on, .path_contains = "_00000", .times = FaultRule::kForever, .error = EMFILE}}};
    SessionRig rig(limited(WhenFull::block), {.plan = plan});
    Client& client = rig.client();
    for (int64_t iteration = 0; iteration < 30; ++iteration) write_one(client, iteration);
    client.finish();
    rig.stop();
    for (const Fault& fault : rig.told()) {
      EXPECT_EQ(fault.system_errno, EMFILE);
      EXPECT_LT(fault.iteration, 10);
      EXPECT_NE(fault.message.find("Too many open files"), std::string::npos) << fault.message;
    }
    EXPECT_EQ(rig.counters().iterations_published.get(), 20u);
    EXPECT_EQ(rig.counters().iterations_failed.get(), 10u);
  }
}

TEST(IterationLimit, IterationsWithoutBlocksTakeNoRoom) {
  SessionRig rig(limited(WhenFull::block), {.shut = true});
  for (int64_t iteration = 0; iteration < 1000; ++iteration) ASSERT_OK(rig.client().end_iteration(iteration));
  EXPECT_EQ(rig.client().counters().iterations_peak, 0u);
}

TEST(IterationLimit, IsTheLeastOfWhatDescriptorsMemoryAndTheConfigurationAllow) {
  Config config = small_config(kPages);
  config.memory.budget = uint64_t{1} << 30;
  EXPECT_EQ(iteration_limit(config, UINT32_MAX), 227u) << "4 MiB of metadata";
  EXPECT_EQ(iteration_limit(config, 128), 64u) << "two descriptors each";
  EXPECT_EQ(iteration_limit(config, 1), 1u) << "one there must be";
  config.memory.iterations = 5;
  EXPECT_EQ(iteration_limit(config, 128), 5u);
  config.memory.iterations = 256;
  config.memory.budget = uint64_t{1} << 20;
  EXPECT_EQ(iteration_limit(config, UINT32_MAX), 113u) << "half of it";
  config.variables.resize(1000, config.variables[0]);
  EXPECT_EQ(iteration_limit(config, UINT32_MAX), kIterationsWhateverMemory);
  EXPECT_EQ(iteration_limit(config, 4), 2u);
}

}  // namespace
}  // namespace tailrace::impl
