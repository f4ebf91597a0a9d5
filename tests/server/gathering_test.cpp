// `merge: {by: count}`: merging does not depend on the storage, and requests leave when something waits for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <thread>
#include <utility>

#include "testing/raw_files_rig.hpp"

namespace tailrace::impl {
namespace {

constexpr int kWrite = TAILRACE_FILE_WRITE;

void write(SessionRig& rig, uint32_t file, const tailrace_extent& extent) {
  ASSERT_OK(rig.client().files().write(file, {&extent, 1}, block(extent.length, 1).data()));
}

struct ByCount {
  Config config = small_config(64);
  SessionRigOptions options;

  explicit ByCount(uint32_t count) {
    config.storage.backend = Backend::memory;
    config.merge.by_count = true;
    config.merge.count = count;
    options.engine.gather.by_count = true;
    options.engine.gather.count = count;
  }
};

// Returns the accesses of storage, as (offset, length), in order.
std::vector<std::pair<uint64_t, uint64_t>> accesses(const SessionRig& rig) {
  std::vector<std::pair<uint64_t, uint64_t>> found;
  for (const FaultEvent& event : rig.events()) {
    if (event.what == FaultEvent::What::begun && event.on == FaultOn::write) {
      found.emplace_back(event.offset, event.length);
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

TEST(GatheringByCount, MergesTheSameHoweverFastTheStorageIs) {
  std::vector<std::pair<uint64_t, uint64_t>> expected;
  for (const uint32_t delay : {0u, 1u, 7u}) {
    for (const bool shut : {false, true}) {
      ByCount by(16);
      by.options.shut = shut;
      by.options.plan.delay_reaps = delay;
      SessionRig rig(by.config, by.options);
      const uint32_t file = open_raw(rig, "a.raw");
      for (uint64_t i = 0; i < 100; ++i) write(rig, file, {i * 33 % 100 * 64, 64});
      if (shut) rig.gate().open();
      ASSERT_OK(rig.client().files().sync(file));
      rig.stop();
      const auto found = accesses(rig);
      if (expected.empty()) expected = found;
      EXPECT_EQ(found, expected) << "delay " << delay << ", shut " << shut;
    }
  }
  EXPECT_LT(expected.size(), 100u);
}

// None of these would return if what they wait for were held until there are that many.
TEST(GatheringByCount, LetsGoWhatSomebodyWaitsFor) {
  ByCount by(1000);
  by.options.engine.read_after = EngineOptions::ReadAfter::written;
  SessionRig rig(by.config, by.options);
  const uint32_t file = open_raw(rig, "a.raw");
  write(rig, file, {0, 10});
  ASSERT_OK(rig.client().files().sync(file));
  write(rig, file, {10, 10});
  ASSERT_OK(rig.client().flush());
  write(rig, file, {20, 10});
  std::vector<std::byte> back(10);
  const tailrace_extent extent{20, 10};
  ASSERT_OK(rig.client().files().read(file, {&extent, 1}, back.data()));
  EXPECT_EQ(back, block(10, 1));
  write(rig, file, {30, 10});
  ASSERT_OK(rig.client().files().close(file));
  ASSERT_OK(rig.client().flush());
  EXPECT_EQ(rig.counters().transfers.get(), 4u + 1 + 2) << "four writes, a read, two syncs";
  ASSERT_OK(rig.client().write("a", 0, page(1).data()));
  ASSERT_OK(rig.client().read("a", 0, std::vector<std::byte>(4096).data()));
  const std::vector<std::byte> lent = page(2);
  const Result<uint64_t> ticket = rig.client().borrow("b", 0, lent.data());
  ASSERT_OK(ticket.status());
  ASSERT_OK(rig.client().wait(ticket.value(), std::nullopt));
  ASSERT_OK(rig.client().end_iteration(0));
  ASSERT_OK(rig.client().flush());
  EXPECT_NE(rig.published(0), nullptr);
}

TEST(GatheringByCount, LetsGoWhatFillsTheMemory) {
  ByCount by(100'000);
  SessionRig rig(by.config, by.options);
  const uint32_t file = open_raw(rig, "a.raw");
  for (uint64_t i = 0; i < 6000; ++i) write(rig, file, {i * 1000, 200});
  ASSERT_OK(rig.client().files().close(file));
  rig.stop();
  EXPECT_EQ(rig.bytes("out/a.raw")->size(), 5999u * 1000 + 200);
}

TEST(GatheringByCount, AnImmediateWriteGoesAtOnceAndOneOfAnotherHandleDoesNot) {
  ByCount by(1000);
  SessionRig rig(by.config, by.options);
  const uint32_t gathers = open_raw(rig, "a.raw");
  const uint32_t other = open_raw(rig, "b.raw", kWrite | TAILRACE_FILE_IMMEDIATE);
  const uint32_t at_once = open_raw(rig, "a.raw", kWrite | TAILRACE_FILE_IMMEDIATE);
  write(rig, gathers, {0, 10});
  write(rig, other, {0, 10});
  rig.gate().wait_for(1);
  while (rig.counters().transfers.get() < 1) std::this_thread::yield();
  EXPECT_EQ(rig.counters().transfers.get(), 1u) << "the first one is still held";
  write(rig, at_once, {10, 10});
  rig.gate().wait_for(2);
  ASSERT_OK(rig.client().files().close(gathers));
  ASSERT_OK(rig.client().files().close(at_once));
  rig.stop();
  const auto found = accesses(rig);
  const std::vector<std::pair<uint64_t, uint64_t>> expected = {{0, 10}, {0, 20}};
  EXPECT_EQ(found, expected) << "what others write meanwhile goes along";
}

}  // namespace
}  // namespace tailrace::impl
