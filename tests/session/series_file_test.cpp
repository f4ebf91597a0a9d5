// Files of several iterations (storage.iterations_per_file), when storage fails or is slow, and when programs go on
// before an iteration is published.
#include <gtest/gtest.h>

#include "format/hdf5/series_file.hpp"
#include "testing/blocks.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

Config series_config(uint64_t pages, Durability durability = Durability::written) {
  Config config = small_config(pages);
  config.storage.iterations_per_file = 0;
  config.storage.durability = durability;
  return config;
}

Status write_iteration(Client& client, int64_t iteration) {
  Status status = client.write("a", iteration, page(static_cast<uint64_t>(iteration)).data());
  const Status second = client.write("c", iteration, block(100, static_cast<uint64_t>(iteration)).data());
  const Status end = client.end_iteration(iteration);
  if (status.ok()) status = second;
  return status.ok() ? end : status;
}

TEST(SeriesFiles, IterationsFollowOneAnother) {
  for (const Durability durability : {Durability::written, Durability::durable}) {
    SessionRig rig(series_config(4, durability));
    for (int64_t iteration = 0; iteration < 200; ++iteration) ASSERT_OK(write_iteration(rig.client(), iteration));
    std::vector<std::byte> read(4096);
    ASSERT_OK(rig.client().read("a", 150, read.data()));
    EXPECT_EQ(read, page(150));
    rig.stop();
    EXPECT_TRUE(rig.told().empty());
    EXPECT_EQ(rig.counters().iterations_published.get(), 200u);
    EXPECT_FALSE(rig.exists("out/sim_c0_000000.h5.part"));
    const std::unique_ptr<Hdf5File> file = rig.published(0);
    ASSERT_NE(file, nullptr);
    for (int64_t iteration = 0; iteration < 200; ++iteration) {
      EXPECT_EQ(file->read(iteration, "a"), page(static_cast<uint64_t>(iteration)));
      EXPECT_EQ(file->read(iteration, "c"), block(100, static_cast<uint64_t>(iteration)));
    }
  }
}

// Later iterations lie in the file of that name: none of them is durable before the name is.
TEST(SeriesFiles, ANameThatWasNotMadeDurableIsTriedAgain) {
  SessionRig rig(series_config(4, Durability::durable),
                 {.plan = {.rules = {{.on = FaultOn::sync, .path_contains = "", .first = 2}}}});
  for (int64_t iteration = 0; iteration < 3; ++iteration) {
    ASSERT_OK(write_iteration(rig.client(), iteration));
    ASSERT_OK(rig.client().flush());
  }
  const std::vector<Fault> told = rig.told();
  rig.stop();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].file, "out");
  EXPECT_EQ(told[0].iteration, 0);
  uint64_t syncs = 0;
  for (const FaultEvent& event : rig.events()) {
    syncs += event.what == FaultEvent::What::ended && event.on == FaultOn::sync && event.path == "out" ? 1 : 0;
  }
  EXPECT_EQ(syncs, 2u) << "once more for iteration 1, and not for iteration 2";
}

TEST(SeriesFiles, AtMostOneIterationIsUnfinished) {
  SessionRig rig(series_config(8), {.shut = true});
  Client& client = rig.client();
  ASSERT_OK(client.write("a", 0, page(0).data()));
  const Status second = client.write("a", 1, page(1).data());
  EXPECT_EQ(second.code(), TAILRACE_WRONG_ORDER);
  EXPECT_NE(second.fault().message.find("storage.iterations_per_file"), std::string::npos) << said(second);
  ASSERT_OK(client.end_iteration(0));
  rig.gate().open();
  ASSERT_OK(write_iteration(client, 2));
  rig.stop();
  EXPECT_EQ(rig.published(2)->read(0, "a"), page(0));
  EXPECT_EQ(rig.published(2)->read(2, "a"), page(2));
}

TEST(SeriesFiles, ADroppedIterationLeavesTheFile) {
  Config config = series_config(8);
  config.memory.when_full = WhenFull::drop;
  const auto lent = page(1);
  SessionRig rig(config);
  Client& client = rig.client();
  ASSERT_OK(write_iteration(client, 0));
  ASSERT_OK(client.flush());
  rig.gate().shut();
  ASSERT_OK(client.write("a", 1, page(1).data()));
  EXPECT_EQ(client.borrow("b", 1, lent.data()).status().code(), TAILRACE_OK);
  ASSERT_OK(client.end_iteration(1));
  EXPECT_EQ(client.write("a", 2, page(2).data()).code(), TAILRACE_DROPPED) << "iteration 1 is not published yet";
  (void)client.end_iteration(2);
  rig.gate().open();
  ASSERT_OK(client.flush());
  ASSERT_OK(write_iteration(client, 3));
  rig.stop();
  const std::unique_ptr<Hdf5File> file = rig.published(0);
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file->read(0, "a"), page(0));
  EXPECT_EQ(file->read(1, "a"), page(1));
  EXPECT_TRUE(file->variables(2).empty());
  EXPECT_EQ(file->read(3, "a"), page(3));
}

// Whichever operation fails, the file has exactly the iterations that did not fail.
TEST(SeriesFiles, AFailureConcernsItsIterationAlone) {
  size_t failures = 0;
  for (const Durability durability : {Durability::written, Durability::durable}) {
    for (const FaultOn on : {FaultOn::write, FaultOn::sync, FaultOn::open, FaultOn::rename}) {
      for (uint64_t first = 0; first < 16; ++first) {
        SCOPED_TRACE(testing::Message() << "operation " << static_cast<int>(on) << ", number " << first);
        SessionRig rig(series_config(8, durability),
                       {.plan = {.rules = {{.on = on, .path_contains = "sim_c0_000000.h5", .first = first}}}});
        Client& client = rig.client();
        for (int64_t iteration = 0; iteration < 6; ++iteration) {
          (void)write_iteration(client, iteration);
          (void)client.flush();
        }
        std::set<int64_t> failed;
        for (const Fault& fault : rig.told()) failed.insert(fault.iteration);
        rig.stop();
        EXPECT_LE(failed.size(), 1u);
        failures += failed.size();
        const std::unique_ptr<Hdf5File> file = rig.published(0);
        ASSERT_NE(file, nullptr);
        for (int64_t iteration = 0; iteration < 6; ++iteration) {
          if (failed.contains(iteration)) continue;
          EXPECT_EQ(file->read(iteration, "a"), page(static_cast<uint64_t>(iteration))) << iteration;
          EXPECT_EQ(file->read(iteration, "c"), block(100, static_cast<uint64_t>(iteration))) << iteration;
        }
      }
    }
  }
  EXPECT_GT(failures, 20u);
}

}  // namespace
}  // namespace tailrace::impl
