// Limits of a client: one more than each of them.
#include <gtest/gtest.h>

#include <thread>

#include "testing/raw_files_rig.hpp"

namespace tailrace::impl {
namespace {

// A message names 32 variables.
TEST(ClientLimits, OfMoreVariablesThanAMessageNamesItCountsTheRest) {
  for (const size_t count : {size_t{32}, size_t{33}}) {
    std::vector<SampleVariable> variables;
    for (size_t i = 0; i < count; ++i) variables.push_back({"v" + std::to_string(i)});
    Config config = sample_config({"out"}, variables);
    config.storage.backend = Backend::memory;
    config.memory.budget = 1 << 16;
    SessionRig rig(config);
    const Status status = rig.client().write("none", 0, page(1).data());
    ASSERT_EQ(status.code(), TAILRACE_UNKNOWN_VARIABLE);
    const std::string& told = status.fault().message;
    EXPECT_NE(told.find("v31"), std::string::npos) << told;
    EXPECT_EQ(told.find("v32"), std::string::npos) << told;
    EXPECT_EQ(told.ends_with(" and 1 more"), count > 32) << told;
  }
}

// A client lets 64 files close in the background. One more waits for the first of them.
TEST(ClientLimits, OneFileMoreThanMayBeClosingWaitsForTheFirst) {
  constexpr int kClosing = 64;
  SessionRig rig(memory_config(), {.shut = true});
  std::vector<uint64_t> tickets;
  const auto write_and_close = [&](int number) {
    const std::string path = std::to_string(number) + ".raw";
    const uint32_t file = open_raw(rig, path);
    const tailrace_extent extent{0, 100};
    ASSERT_OK(rig.client().files().write(file, {&extent, 1}, block(100, static_cast<uint64_t>(number)).data()));
    tickets.push_back(iclose_raw(rig, file));
  };
  for (int number = 0; number < kClosing; ++number) write_and_close(number);
  std::thread opener([&rig] { rig.gate().open(); });
  for (int number = kClosing; number < kClosing + 2; ++number) write_and_close(number);
  opener.join();
  for (const uint64_t ticket : tickets) EXPECT_OK(rig.client().wait(ticket, std::nullopt));
  rig.stop();
  for (int number = 0; number < kClosing + 2; ++number) {
    EXPECT_EQ(*rig.bytes("out/" + std::to_string(number) + ".raw"), block(100, static_cast<uint64_t>(number)));
  }
}

// 64 iterations may be open at once, also if more may be unfinished.
TEST(ClientLimits, OneIterationMoreThanMayBeOpenIsRefused) {
  constexpr int64_t kMostOpen = 64;
  SessionRig rig(memory_config());
  for (int64_t i = 0; i < kMostOpen; ++i)
    ASSERT_OK(rig.client().write("a", i, page(static_cast<uint64_t>(i)).data()));
  const Status refused = rig.client().write("a", kMostOpen, page(0).data());
  EXPECT_EQ(refused.code(), TAILRACE_WRONG_ORDER);
  EXPECT_NE(refused.fault().message.find("64 iterations are open already"), std::string::npos)
      << refused.fault().message;
  ASSERT_OK(rig.client().end_iteration(0));
  ASSERT_OK(rig.client().write("a", kMostOpen, page(0).data()));
  for (int64_t i = 1; i <= kMostOpen; ++i) ASSERT_OK(rig.client().end_iteration(i));
  rig.stop();
  EXPECT_TRUE(rig.told().empty());
  for (int64_t i = 0; i <= kMostOpen; ++i) EXPECT_NE(rig.published(i), nullptr) << i;
}

}  // namespace
}  // namespace tailrace::impl
