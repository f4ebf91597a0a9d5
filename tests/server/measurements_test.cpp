// The counts and times of a session, for each variable, and its trace: the counts are exact, the times are ordered.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "testing/blocks.hpp"

namespace tailrace::impl {
namespace {

using What = TraceEvent::What;

const VariableCounters& served(SessionRig& rig, const char* variable) {
  return rig.counters(static_cast<uint32_t>(rig.config().find_variable(variable)));
}

const ClientVariableCounters& asked(SessionRig& rig, const char* variable) {
  return rig.client().counters(static_cast<uint32_t>(rig.config().find_variable(variable)));
}

TEST(Measurements, EachBlockIsCountedOnceForItsVariable) {
  SessionRig rig(small_config(16));
  Client& client = rig.client();
  for (int64_t iteration = 0; iteration < 7; ++iteration) {
    ASSERT_OK(client.write("a", iteration, page(1).data()));
    ASSERT_OK(client.alloc("b", iteration).status());
    ASSERT_OK(client.commit("b", iteration));
    ASSERT_OK(client.end_iteration(iteration));
  }
  const std::vector<std::byte> own = block(100, 3);
  const Result<uint64_t> ticket = client.borrow("c", 7, own.data());
  ASSERT_OK(ticket.status());
  ASSERT_OK(client.wait(ticket.value(), std::nullopt));
  ASSERT_OK(client.end_iteration(7));
  client.finish();
  rig.stop();
  const std::map<std::string, std::pair<uint64_t, uint64_t>> expected = {
      {"a", {7, 7 * 4096}}, {"b", {7, 7 * 4096}}, {"c", {1, 100}}};
  for (const auto& [name, counts] : expected) {
    SCOPED_TRACE(name);
    EXPECT_EQ(asked(rig, name.c_str()).blocks_accepted, counts.first);
    EXPECT_EQ(asked(rig, name.c_str()).bytes_accepted, counts.second);
    EXPECT_EQ(asked(rig, name.c_str()).handover.count(), counts.first);
    EXPECT_EQ(served(rig, name.c_str()).blocks_written.get(), counts.first);
    EXPECT_EQ(served(rig, name.c_str()).bytes_written.get(), counts.second);
    EXPECT_EQ(served(rig, name.c_str()).blocks_failed.get(), 0u);
    EXPECT_EQ(served(rig, name.c_str()).queued.count(), counts.first);
    EXPECT_EQ(served(rig, name.c_str()).writing.count(), counts.first);
  }
  EXPECT_LE(asked(rig, "c").waiting.count(), 1u);
}

TEST(Measurements, AFailedBlockIsCountedAndTimed) {
  SessionRigOptions options;
  options.plan.rules = {{.on = FaultOn::write, .path_contains = "_000001", .times = FaultRule::kForever}};
  SessionRig rig(small_config(16), options);
  for (int64_t iteration = 0; iteration < 3; ++iteration) {
    (void)rig.client().write("a", iteration, page(1).data());
    (void)rig.client().end_iteration(iteration);
  }
  rig.client().finish();
  rig.stop();
  EXPECT_EQ(served(rig, "a").blocks_written.get(), 2u);
  EXPECT_EQ(served(rig, "a").blocks_failed.get(), 1u);
  EXPECT_EQ(served(rig, "a").writing.count(), 3u);
  uint64_t failed = 0;
  for (const TraceEvent& event : rig.server_trace().events()) failed += event.what == What::block && event.failed;
  EXPECT_EQ(failed, 1u);
}

TEST(Measurements, ABlockWhoseFileCannotBeOpenedHasFailed) {
  SessionRigOptions options;
  options.plan.rules = {{.on = FaultOn::open, .times = FaultRule::kForever}};
  SessionRig rig(small_config(16), options);
  (void)rig.client().write("a", 0, page(1).data());
  rig.client().finish();
  rig.stop();
  EXPECT_EQ(served(rig, "a").blocks_failed.get(), 1u);
  EXPECT_EQ(served(rig, "a").queued.count(), 1u) << "it waited for the opening";
}

TEST(Measurements, RequestsThatGoTogetherAreCountedAsMerged) {
  SessionRigOptions options;
  options.shut = true;
  options.engine.gather.by_count = true;
  options.engine.gather.count = 2;  // the two blocks of an iteration
  Config config = small_config(64);
  config.merge.by_count = true;
  config.merge.count = 2;
  SessionRig rig(config, options);
  for (int64_t iteration = 0; iteration < 10; ++iteration) {
    ASSERT_OK(rig.client().write("a", iteration, page(1).data()));
    ASSERT_OK(rig.client().write("b", iteration, page(2).data()));
    ASSERT_OK(rig.client().end_iteration(iteration));
  }
  rig.gate().open();
  rig.client().finish();
  rig.stop();
  EXPECT_GE(rig.counters().requests_peak.get(), 10u);
  EXPECT_LE(served(rig, "a").blocks_merged.get(), 10u);
  EXPECT_GT(rig.counters().requests_merged.get(), 0u);
  EXPECT_GE(rig.counters().requests_merged.get(),
            served(rig, "a").blocks_merged.get() + served(rig, "b").blocks_merged.get());
  EXPECT_GT(rig.counters().transfers.get(), 0u);
}

TEST(Measurements, ShortTransfersAndRefusalsAreCounted) {
  SessionRigOptions options;
  options.plan.short_percent = 50;
  options.plan.eintr_percent = 30;
  SessionRig rig(small_config(16), options);
  for (int64_t iteration = 0; iteration < 20; ++iteration) {
    ASSERT_OK(rig.client().write("a", iteration, page(1).data()));
    ASSERT_OK(rig.client().end_iteration(iteration));
  }
  rig.client().finish();
  rig.stop();
  EXPECT_TRUE(rig.told().empty());
  uint64_t again = 0;
  for (const FaultEvent& event : rig.events()) {
    if (event.what != FaultEvent::What::ended || (event.on != FaultOn::write && event.on != FaultOn::sync)) continue;
    again += event.result < 0 || static_cast<uint64_t>(event.result) < event.length;
  }
  EXPECT_GT(again, 0u);
  EXPECT_EQ(rig.counters().transfers_again.get(), again);
}

TEST(Measurements, TheTraceTellsBlocksAndCallsInOrder) {
  SessionRig rig(small_config(16));
  Client& client = rig.client();
  for (int64_t iteration = 0; iteration < 5; ++iteration) {
    ASSERT_OK(client.write("a", iteration, page(1).data()));
    ASSERT_OK(client.end_iteration(iteration));
  }
  client.finish();
  rig.stop();
  std::map<What, int> calls;
  Nanoseconds last{0};
  for (const TraceEvent& event : rig.client_trace().events()) {
    if (event.what == What::wait_memory) continue;  // it lies within the call after it
    ++calls[event.what];
    EXPECT_GE(event.start, last);
    EXPECT_GE(event.end, event.start);
    last = event.end;
  }
  EXPECT_EQ(calls[What::write], 5);
  EXPECT_EQ(calls[What::end_iteration], 5);
  EXPECT_EQ(calls[What::close], 1);
  int blocks = 0;
  int published = 0;
  for (const TraceEvent& event : rig.server_trace().events()) {
    (event.what == What::block ? blocks : published) += 1;
    EXPECT_LE(event.start, event.begun);
    EXPECT_LE(event.begun, event.end);
    EXPECT_FALSE(event.failed);
  }
  EXPECT_EQ(blocks, 5);
  EXPECT_EQ(published, 5);
}

TEST(Measurements, ATraceIsBoundedAndCountsWhatItLeavesOut) {
  TraceLog trace(3);
  for (int i = 0; i < 10; ++i) trace.add({});
  EXPECT_EQ(trace.events().size(), 3u);
  EXPECT_EQ(trace.lost(), 7u);
  TraceLog off(0);
  off.add({});
  EXPECT_FALSE(off.on());
  EXPECT_EQ(off.lost(), 0u);
}

}  // namespace
}  // namespace tailrace::impl
