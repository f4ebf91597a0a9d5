// Reads see the client's own earlier writes, whatever happened to the iteration in between (promise 4).
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <thread>

#include "testing/blocks.hpp"

namespace tailrace::impl {
namespace {

// Reads `variable`, and returns success if it is the page `number`.
::testing::AssertionResult reads(Client& client, const char* variable, int64_t iteration, uint64_t number) {
  std::vector<std::byte> data(4096, std::byte{0xff});
  const Status status = client.read(variable, iteration, data.data());
  if (!status.ok()) return ::testing::AssertionFailure() << said(status);
  if (data != page(number)) return ::testing::AssertionFailure() << "other bytes";
  return ::testing::AssertionSuccess();
}

TEST(SessionRead, WhileTheIterationIsOpen) {
  for (const bool on_disk : {false, true}) {
    const ScratchDirectory directory;
    SessionRig rig(small_config(8, {directory.path()}), {.on_disk = on_disk});
    Client& client = rig.client();
    for (uint64_t i = 0; i < 20; ++i) {
      ASSERT_OK(client.write("a", 0, page(i).data()));
      EXPECT_TRUE(reads(client, "a", 0, i));
    }
    std::vector<std::byte> data(4096);
    EXPECT_EQ(client.read("b", 0, data.data()).code(), TAILRACE_NOT_FOUND);
    EXPECT_EQ(client.read("a", 5, data.data()).code(), TAILRACE_NOT_FOUND);
    EXPECT_TRUE(rig.told().empty()) << "a read tells its failure itself";
  }
}

TEST(SessionRead, BlocksThatStillTravel) {
  SessionRig rig(small_config(8), {.shut = true});
  ASSERT_OK(rig.client().write("a", 0, page(1).data()));
  ASSERT_OK(rig.client().write("a", 0, page(2).data()));
  std::thread opener([&] {
    rig.gate().wait_for(1);
    rig.gate().open();
  });
  EXPECT_TRUE(reads(rig.client(), "a", 0, 2));
  opener.join();
}

TEST(SessionRead, WhileTheIterationIsLeaving) {
  for (const bool on_disk : {false, true}) {
    const ScratchDirectory directory;
    SessionRig rig(small_config(8, {directory.path()}), {.on_disk = on_disk, .shut = true});
    ASSERT_OK(rig.client().write("a", 0, page(1).data()));
    ASSERT_OK(rig.client().write("b", 0, page(2).data()));
    ASSERT_OK(rig.client().end_iteration(0));
    std::thread opener([&] {
      rig.gate().wait_for(1);
      rig.gate().open();
    });
    EXPECT_TRUE(reads(rig.client(), "b", 0, 2));
    opener.join();
    EXPECT_TRUE(reads(rig.client(), "a", 0, 1));
  }
}

TEST(SessionRead, PublishedAndLongAgo) {
  const ScratchDirectory first;
  const ScratchDirectory second;
  SessionRig rig(small_config(16, {first.path(), second.path()}), {.on_disk = true});
  Client& client = rig.client();
  const int64_t count = Hdf5Format::kRemembered + 30;
  for (int64_t iteration = 0; iteration < count; ++iteration) {
    ASSERT_OK(client.write("a", iteration, page(static_cast<uint64_t>(iteration)).data()));
    ASSERT_OK(client.end_iteration(iteration));
    if (iteration % 50 == 0) {
      EXPECT_TRUE(reads(client, "a", iteration, static_cast<uint64_t>(iteration)));
    }
  }
  for (const int64_t iteration : {int64_t{0}, int64_t{1}, int64_t{29}, int64_t{30}, count - 1}) {
    EXPECT_TRUE(reads(client, "a", iteration, static_cast<uint64_t>(iteration))) << iteration;
  }
  std::vector<std::byte> data(4096);
  EXPECT_EQ(client.read("b", 0, data.data()).code(), TAILRACE_NOT_FOUND);
  EXPECT_EQ(client.read("a", count, data.data()).code(), TAILRACE_NOT_FOUND);
  rig.stop();
  EXPECT_TRUE(rig.told().empty());
}

// One iteration has more datasets than the format remembers of all that have left.
TEST(SessionRead, FromAnIterationOfMoreDatasetsThanAreRemembered) {
  const ScratchDirectory directory;
  std::vector<SampleVariable> variables;
  for (size_t i = 0; i <= Hdf5Format::kPartsRemembered; ++i) {
    variables.push_back({fmt::format("v{}", i), ElementType::uint8, {1}});
  }
  Config config = sample_config({directory.path()}, variables);
  config.memory.budget = uint64_t{1} << 20;
  SessionRig rig(config, {.on_disk = true});
  for (int64_t iteration = 0; iteration < 2; ++iteration) {
    for (size_t i = 0; i < variables.size(); ++i) {
      const auto value = static_cast<std::byte>(i + static_cast<size_t>(iteration));
      ASSERT_OK(rig.client().write(variables[i].name, iteration, &value));
    }
    ASSERT_OK(rig.client().end_iteration(iteration));
  }
  for (int64_t iteration = 0; iteration < 2; ++iteration) {
    for (const size_t i : {size_t{0}, variables.size() - 1}) {
      std::byte value{0xff};
      ASSERT_OK(rig.client().read(variables[i].name, iteration, &value));
      EXPECT_EQ(value, static_cast<std::byte>(i + static_cast<size_t>(iteration)));
    }
  }
  rig.stop();
  EXPECT_TRUE(rig.told().empty());
}

TEST(SessionRead, ABlockThatWasLostSaysWhy) {
  SessionRig rig(
      small_config(8),
      {.plan = {
           .rules = {{.on = FaultOn::write, .path_contains = "_000000.h5.part", .times = FaultRule::kForever}}}});
  std::vector<std::byte> data(4096);
  ASSERT_OK(rig.client().write("a", 0, page(1).data()));
  EXPECT_OK(rig.client().flush());  // while it is pending, its memory serves a read
  const Status status = rig.client().read("a", 0, data.data());
  EXPECT_EQ(status.fault().system_errno, EIO) << said(status);
  EXPECT_EQ(rig.told().size(), 1u) << "the write's own failure";
}

TEST(SessionRead, AReadThatFails) {
  SessionRig rig(small_config(8), {.plan = {.rules = {{.on = FaultOn::read}}}});
  std::vector<std::byte> data(4096);
  ASSERT_OK(rig.client().write("a", 0, page(1).data()));
  ASSERT_OK(rig.client().flush());  // so that it is read from storage
  const Status status = rig.client().read("a", 0, data.data());
  EXPECT_EQ(status.fault().operation, "read") << said(status);
  EXPECT_EQ(status.fault().variable, "a");
  EXPECT_TRUE(reads(rig.client(), "a", 0, 1));
  ASSERT_OK(rig.client().end_iteration(0));
  ASSERT_OK(rig.client().flush());
  EXPECT_TRUE(rig.told().empty());
  rig.stop();
  EXPECT_NE(rig.published(0), nullptr) << "a read that failed loses no bytes of the file";
}

TEST(SessionRead, WhatAnEarlierRunWrote) {
  const ScratchDirectory directory;
  {
    SessionRig rig(small_config(8, {directory.path()}), {.on_disk = true});
    ASSERT_OK(rig.client().write("b", 3, page(9).data()));
    ASSERT_OK(rig.client().end_iteration(3));
  }
  SessionRig rig(small_config(8, {directory.path()}), {.on_disk = true});
  EXPECT_TRUE(reads(rig.client(), "b", 3, 9));
}

// Found by the simulator (seed 109412): the file under the iteration's name belonged to an earlier run, and was read.
TEST(SessionRead, AnEarlierRunsFileIsNotTakenForOneThatWasNotPublished) {
  const ScratchDirectory directory;
  {
    SessionRig rig(small_config(8, {directory.path()}), {.on_disk = true});
    ASSERT_OK(rig.client().write("b", 3, page(9).data()));
    ASSERT_OK(rig.client().end_iteration(3));
  }
  for (const FaultOn on : {FaultOn::rename, FaultOn::open}) {
    const FaultPlan plan{.rules = {{.on = on, .path_contains = ".part", .times = FaultRule::kForever}}};
    SessionRig rig(small_config(8, {directory.path()}), {.plan = plan, .on_disk = true});
    ASSERT_OK(rig.client().write("b", 3, page(1).data()));
    ASSERT_OK(rig.client().end_iteration(3));
    EXPECT_OK(rig.client().flush());
    EXPECT_FALSE(rig.told().empty());
    std::vector<std::byte> data(4096);
    const Status status = rig.client().read("b", 3, data.data());
    ASSERT_FALSE(status.ok());
    EXPECT_EQ(status.fault().system_errno, EIO) << said(status);
  }
}

// Found by the simulator: files go to the devices in turn, and the new one went to another device than the old one.
TEST(SessionRead, AnIterationWrittenAgainReplacesItsFileOnWhicheverDevice) {
  const ScratchDirectory first;
  const ScratchDirectory second;
  const Config config = small_config(8, {first.path(), second.path()});
  for (const int64_t begin : {0, 1}) {
    SessionRig rig(config, {.on_disk = true});
    for (int64_t iteration = begin; iteration < 4; ++iteration) {
      ASSERT_OK(rig.client().write("b", iteration, page(static_cast<uint64_t>(10 * begin + iteration)).data()));
      ASSERT_OK(rig.client().end_iteration(iteration));
    }
  }
  SessionRig rig(config, {.on_disk = true});
  EXPECT_TRUE(reads(rig.client(), "b", 0, 0));
  for (int64_t iteration = 1; iteration < 4; ++iteration) {
    const std::string name = fmt::format("/sim_c0_{:06}.h5", iteration);
    EXPECT_NE(std::filesystem::exists(first.path() + name), std::filesystem::exists(second.path() + name)) << name;
    EXPECT_TRUE(reads(rig.client(), "b", iteration, static_cast<uint64_t>(10 + iteration)));
  }
}

TEST(SessionRead, AnEarlierRunsFileIsNotTakenForOneThatWasDropped) {
  const ScratchDirectory directory;
  {
    SessionRig rig(small_config(8, {directory.path()}), {.on_disk = true});
    ASSERT_OK(rig.client().write("b", 3, page(9).data()));
    ASSERT_OK(rig.client().end_iteration(3));
  }
  Config config = small_config(1, {directory.path()});
  config.memory.when_full = WhenFull::drop;
  SessionRig rig(config, {.on_disk = true, .shut = true});
  ASSERT_OK(rig.client().write("b", 2, page(1).data()));
  EXPECT_EQ(rig.client().write("b", 3, page(1).data()).code(), TAILRACE_DROPPED);
  rig.gate().open();
  std::vector<std::byte> data(4096);
  EXPECT_EQ(rig.client().read("b", 3, data.data()).code(), TAILRACE_DROPPED);
}

// Found by the simulator (seed 777471): the shape of an earlier run's file was read before the file was recognised as
// such.
TEST(SessionRead, AnEarlierRunsFileOfAnotherShapeIsNotLookedAt) {
  for (const bool filtered : {false, true}) {
    const ScratchDirectory directory;
    const auto config_of = [&](uint64_t elements, uint64_t pages) {
      Config config = sample_config({directory.path()}, {{"a", ElementType::float32, {elements}}});
      if (filtered) config.variables[0].compress = {Compressor::deflate, 6, true, 1024, false};
      config.memory.budget = 4096 * pages;
      config.memory.when_full = WhenFull::drop;
      return config;
    };
    {
      SessionRig rig(config_of(512, 8), {.on_disk = true});
      ASSERT_OK(rig.client().write("a", 3, page(9).data()));
      ASSERT_OK(rig.client().end_iteration(3));
    }
    SessionRig rig(config_of(1024, 1), {.on_disk = true, .shut = true});
    ASSERT_OK(rig.client().write("a", 2, page(1).data()));
    EXPECT_EQ(rig.client().write("a", 3, page(1).data()).code(), TAILRACE_DROPPED);
    rig.gate().open();
    std::vector<std::byte> data(4096);
    EXPECT_EQ(rig.client().read("a", 3, data.data()).code(), TAILRACE_DROPPED);
  }
}

}  // namespace
}  // namespace tailrace::impl
