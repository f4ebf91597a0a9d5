// A full budget: block, sync or drop. Memory never passes the budget (promise 2).
#include <gtest/gtest.h>

#include <cstring>
#include <thread>

#include "testing/blocks.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

Config full_config(uint64_t pages, WhenFull when_full) {
  Config config = small_config(pages);
  config.memory.when_full = when_full;
  return config;
}

// Opens the gate once `count` transfers have arrived.
std::thread open_after(SessionRig& rig, uint64_t count) {
  return std::thread([&rig, count] {
    rig.gate().wait_for(count);
    rig.gate().open();
  });
}

TEST(WhenFull, BlockWaitsForMemory) {
  SessionRig rig(full_config(3, WhenFull::block), {.shut = true});
  std::thread opener = open_after(rig, 1);
  for (int64_t iteration = 0; iteration < 40; ++iteration) {
    ASSERT_OK(rig.client().write("a", iteration, page(static_cast<uint64_t>(iteration)).data()));
    ASSERT_OK(rig.client().end_iteration(iteration));
  }
  opener.join();
  rig.stop();
  EXPECT_TRUE(rig.told().empty());
  EXPECT_LE(rig.client().pool().peak(), 3 * 4096u);
  EXPECT_EQ(rig.counters().iterations_published.get(), 40u);
  EXPECT_EQ(rig.published(17)->read(17, "a"), page(17));
  size_t said_so = 0;
  for (const auto& [level, line] : rig.log().lines()) said_so += line.find("waits for memory") != std::string::npos;
  EXPECT_LE(said_so, 1u) << "once, however often it has waited";
}

TEST(WhenFull, BudgetHeldByTheCaller) {
  for (const WhenFull when_full : {WhenFull::block, WhenFull::sync}) {
    SessionRig rig(full_config(2, when_full));
    Client& client = rig.client();
    ASSERT_OK(client.alloc("a", 0).status());
    ASSERT_OK(client.alloc("b", 0).status());
    const Status held = client.alloc("a", 1).status();
    EXPECT_EQ(held.code(), TAILRACE_BUDGET_HELD);
    EXPECT_EQ(held.fault().variable, "a");
    if (when_full == WhenFull::block) {
      EXPECT_EQ(client.write("a", 1, page(1).data()).code(), TAILRACE_BUDGET_HELD);
    } else {
      EXPECT_OK(client.write("a", 1, page(1).data()));  // bypasses the pool
    }
    std::memcpy(client.alloc("a", 0).value(), page(7).data(), 4096);
    ASSERT_OK(client.commit("a", 0));
    EXPECT_OK(client.write("a", 1, page(2).data()));
    ASSERT_OK(client.commit("b", 0));
    ASSERT_OK(client.end_iteration(0));
    ASSERT_OK(client.end_iteration(1));
    rig.stop();
    EXPECT_EQ(rig.published(0)->read(0, "a"), page(7));
    EXPECT_EQ(rig.published(1)->read(1, "a"), page(2));
    EXPECT_TRUE(rig.told().empty());
  }
}

TEST(WhenFull, SyncWritesThroughInOrder) {
  SessionRig rig(full_config(2, WhenFull::sync), {.shut = true});
  Client& client = rig.client();
  ASSERT_OK(client.write("a", 0, page(1).data()));
  ASSERT_OK(client.write("a", 0, page(2).data()));
  // The third write waits in the engine, behind earlier ones: no transfer of it arrives at the gate.
  std::thread opener([&rig] {
    while (rig.counters().requests_peak.get() < 3) std::this_thread::yield();
    rig.gate().open();
  });
  ASSERT_OK(client.write("a", 0, page(3).data()));
  opener.join();
  EXPECT_EQ(client.counters().blocks_written_through, 1u);
  ASSERT_OK(client.end_iteration(0));
  rig.stop();
  EXPECT_EQ(rig.published(0)->read(0, "a"), page(3));
  EXPECT_LE(client.pool().peak(), 2 * 4096u);
  EXPECT_EQ(client.counters().blocks_accepted, 3u);
}

TEST(WhenFull, SyncTellsAFailureAtOnce) {
  const FaultPlan plan{
      .rules = {{.on = FaultOn::write, .path_contains = "_000001.h5.part", .times = FaultRule::kForever}}};
  SessionRig rig(full_config(1, WhenFull::sync), {.plan = plan, .shut = true});
  ASSERT_OK(rig.client().write("a", 0, page(1).data()));
  // The second transfer is that of the block written through: before it, no memory comes back.
  std::thread opener = open_after(rig, 2);
  const Status status = rig.client().write("b", 1, page(1).data());
  opener.join();
  EXPECT_EQ(status.code(), TAILRACE_IO_ERROR);
  EXPECT_EQ(status.fault().iteration, 1);
  ASSERT_OK(rig.client().flush());
  EXPECT_TRUE(rig.told().empty()) << "told already";
}

TEST(WhenFull, DropGivesUpTheWholeIteration) {
  SessionRig rig(full_config(3, WhenFull::drop), {.shut = true});
  Client& client = rig.client();
  ASSERT_OK(client.write("a", 0, page(1).data()));
  ASSERT_OK(client.write("a", 1, page(2).data()));
  ASSERT_OK(client.alloc("b", 1).status());
  const Status dropped = client.write("c", 1, page(3).data());
  EXPECT_EQ(dropped.code(), TAILRACE_DROPPED);
  EXPECT_EQ(dropped.fault().iteration, 1);
  EXPECT_EQ(client.write("c", 1, page(3).data()).code(), TAILRACE_DROPPED);
  EXPECT_EQ(client.alloc("a", 1).status().code(), TAILRACE_DROPPED);
  EXPECT_EQ(client.borrow("a", 1, page(3).data()).status().code(), TAILRACE_DROPPED);
  EXPECT_EQ(client.signal("e", 1).code(), TAILRACE_DROPPED);
  const uint64_t held = client.pool().held();
  EXPECT_EQ(client.commit("b", 1).code(), TAILRACE_DROPPED);
  EXPECT_EQ(client.pool().held(), held - 4096) << "an uncommitted block of a dropped iteration comes back at once";
  EXPECT_EQ(client.end_iteration(1).code(), TAILRACE_DROPPED);
  EXPECT_EQ(client.write("a", 1, page(1).data()).code(), TAILRACE_WRONG_ORDER);
  ASSERT_OK(client.end_iteration(0));
  rig.gate().open();
  ASSERT_OK(client.flush());
  for (int64_t iteration = 2; iteration < 5; ++iteration) {
    ASSERT_OK(client.write("b", iteration, page(4).data()));
    ASSERT_OK(client.end_iteration(iteration));
    ASSERT_OK(client.flush());
  }
  EXPECT_EQ(client.read("a", 1, std::vector<std::byte>(4096).data()).code(), TAILRACE_NOT_FOUND);
  client.finish();
  rig.stop();
  EXPECT_TRUE(rig.told().empty()) << "a drop is told by the calls";
  EXPECT_FALSE(rig.exists(rig.path(1)));
  EXPECT_FALSE(rig.exists(rig.path(1) + ".part"));
  for (const int64_t iteration : {0, 2, 3, 4}) EXPECT_NE(rig.published(iteration), nullptr) << iteration;
  EXPECT_EQ(client.counters().iterations_dropped, 1u);
  const auto journal = rig.bytes("out/sim_c0.dropped");
  ASSERT_TRUE(journal.has_value());
  const std::string text(reinterpret_cast<const char*>(journal->data()), journal->size());
  EXPECT_EQ(text, "iteration 1: dropped, the memory budget of 12288 bytes was full\n");
  ASSERT_FALSE(rig.log().lines().empty());
  EXPECT_NE(rig.log().lines()[0].second.find("iteration 1 is dropped"), std::string::npos);
}

TEST(WhenFull, ManyDropsAreAllWrittenDown) {
  SessionRig rig(full_config(1, WhenFull::drop), {.shut = true});
  ASSERT_OK(rig.client().write("a", 0, page(1).data()));
  std::string expected;
  for (int64_t iteration = 1; iteration < 100; ++iteration) {
    EXPECT_EQ(rig.client().write("a", iteration, page(1).data()).code(), TAILRACE_DROPPED);
    EXPECT_EQ(rig.client().end_iteration(iteration).code(), TAILRACE_DROPPED);
    expected += "iteration " + std::to_string(iteration) + ": dropped, the memory budget of 4096 bytes was full\n";
  }
  ASSERT_OK(rig.client().end_iteration(0));
  rig.stop();
  const auto journal = rig.bytes("out/sim_c0.dropped");
  ASSERT_TRUE(journal.has_value());
  EXPECT_EQ(std::string(reinterpret_cast<const char*>(journal->data()), journal->size()), expected);
  EXPECT_NE(rig.published(0), nullptr);
  EXPECT_EQ(rig.client().counters().blocks_dropped, 99u);
}

// When flush reports it, the failure of the journal is known.
TEST(WhenFull, AJournalThatCannotBeWrittenIsAFailure) {
  for (const FaultOn on : {FaultOn::open, FaultOn::write}) {
    const FaultPlan plan{.delay_reaps = 40, .rules = {{.on = on, .path_contains = ".dropped", .error = ENOSPC}}};
    SessionRig rig(full_config(1, WhenFull::drop), {.plan = plan, .shut = true});
    ASSERT_OK(rig.client().write("a", 0, page(1).data()));
    EXPECT_EQ(rig.client().write("a", 1, page(1).data()).code(), TAILRACE_DROPPED);
    rig.gate().open();
    ASSERT_OK(rig.client().flush());
    const std::vector<Fault> told = rig.told();
    ASSERT_EQ(told.size(), 1u);
    EXPECT_EQ(told[0].iteration, 1);
    EXPECT_EQ(told[0].system_errno, ENOSPC);
  }
}

// Random blocks under a tight budget, with storage that is sometimes slow: memory never exceeds the budget.
TEST(WhenFull, TheBudgetIsNeverPassed) {
  for_seeds(20, [](uint64_t seed) {
    Dice dice(seed);
    Config config = full_config(dice.between(2, 6), dice.chance(50) ? WhenFull::block : WhenFull::sync);
    SessionRig rig(config, {.plan = {.delay_reaps = 20, .reorder = true}, .seed = seed});
    const char* const names[] = {"a", "b", "c"};
    for (int64_t iteration = 0; iteration < 30; ++iteration) {
      for (const char* name : names) {
        if (dice.chance(50)) {
          ASSERT_OK(rig.client().write(name, iteration, page(1).data()));
        } else {
          ASSERT_OK(rig.client().alloc(name, iteration).status());
          ASSERT_OK(rig.client().commit(name, iteration));
        }
        ASSERT_LE(rig.client().pool().held(), config.memory.budget);
      }
      ASSERT_OK(rig.client().end_iteration(iteration));
    }
    rig.stop();
    EXPECT_LE(rig.client().pool().peak(), config.memory.budget);
    EXPECT_EQ(rig.counters().iterations_published.get(), 30u);
  });
}

}  // namespace
}  // namespace tailrace::impl
