// Raw files that get their name when they are complete (TAILRACE_FILE_PUBLISH), when storage fails or is slow.
#include <gtest/gtest.h>

#include <algorithm>

#include "testing/raw_files_rig.hpp"

namespace tailrace::impl {
namespace {

constexpr int kWrite = TAILRACE_FILE_WRITE;
constexpr int kPublish = TAILRACE_FILE_WRITE | TAILRACE_FILE_PUBLISH;
constexpr std::chrono::milliseconds kNow{0};

void write(SessionRig& rig, uint32_t file, uint64_t number) {
  const tailrace_extent extent{0, 100};
  ASSERT_OK(rig.client().files().write(file, {&extent, 1}, block(100, number).data()));
}

TEST(PublishedFiles, HaveTheirNameWhenTheyAreWhole) {
  SessionRig rig(memory_config(), {.shut = true});
  const uint32_t file = open_raw(rig, "a.raw", kPublish);
  write(rig, file, 1);
  const uint64_t ticket = iclose_raw(rig, file);
  EXPECT_EQ(rig.client().wait(ticket, kNow).code(), TAILRACE_TIMEOUT) << "its bytes cannot be there yet";
  EXPECT_EQ(rig.client().files().close(file).code(), TAILRACE_CLOSED);
  for (const char* path : {"a.raw", "a.raw.partial"}) {
    for (const int mode : {kWrite, kPublish, static_cast<int>(TAILRACE_FILE_READ)}) {
      const Status refused = rig.client().files().open(path, mode).status();
      EXPECT_EQ(refused.code(), TAILRACE_WRONG_ORDER) << path << " " << mode << ": " << said(refused);
    }
  }
  rig.gate().open();
  ASSERT_OK(rig.client().wait(ticket, std::nullopt));
  const uint32_t again = open_raw(rig, "a.raw", kWrite);
  ASSERT_OK(rig.client().files().close(again));
  EXPECT_TRUE(rig.told().empty());
  rig.stop();
  EXPECT_EQ(*rig.bytes("out/a.raw"), block(100, 1));
  EXPECT_FALSE(rig.exists("out/a.raw.partial"));
  rig.client().pool().collect();
  EXPECT_EQ(rig.client().pool().held(), 0u);
}

TEST(PublishedFiles, WhatIsOpenCannotBePublishedToo) {
  SessionRig rig(memory_config());
  for (const char* path : {"a.raw", "a.raw.partial"}) {
    const uint32_t file = open_raw(rig, path, kWrite);
    const Status refused = rig.client().files().open("a.raw", kPublish).status();
    EXPECT_EQ(refused.code(), TAILRACE_WRONG_ORDER) << said(refused);
    EXPECT_NE(refused.fault().message.find(path), std::string::npos) << refused.fault().message;
    ASSERT_OK(rig.client().files().close(file));
  }
}

struct Case {
  FaultOn on;
  Durability durability;
};

class FailedPublication : public testing::TestWithParam<Case> {};

TEST_P(FailedPublication, LeavesThePartAndSaysSo) {
  SessionRig rig(memory_config(64, GetParam().durability),
                 {.plan = {.rules = {{.on = GetParam().on, .path_contains = "a.raw"}}}});
  const uint32_t old = open_raw(rig, "b.raw", kWrite);
  write(rig, old, 7);
  ASSERT_OK(rig.client().files().close(old));
  const uint32_t file = open_raw(rig, "a.raw", kPublish);
  write(rig, file, 1);
  const uint64_t ticket = iclose_raw(rig, file);
  const Status failed = rig.client().wait(ticket, std::nullopt);
  ASSERT_FALSE(failed.ok());
  EXPECT_EQ(failed.fault().operation, "file_close");
  EXPECT_EQ(failed.fault().file, "out/a.raw");
  EXPECT_EQ(failed.fault().system_errno, EIO);
  EXPECT_NE(failed.fault().message.find("a.raw.partial"), std::string::npos) << failed.fault().message;
  const std::vector<Fault> told = rig.told();
  EXPECT_EQ(told.size(), GetParam().on == FaultOn::write ? 1u : 0u) << "the write is told, too; the close has been";
  rig.stop();
  EXPECT_TRUE(rig.exists("out/a.raw.partial"));
  EXPECT_FALSE(rig.exists("out/a.raw"));
}

INSTANTIATE_TEST_SUITE_P(Faults, FailedPublication,
                         testing::Values(Case{FaultOn::write, Durability::written},
                                         Case{FaultOn::write, Durability::durable},
                                         Case{FaultOn::rename, Durability::written},
                                         Case{FaultOn::rename, Durability::durable},
                                         Case{FaultOn::sync, Durability::durable}));

TEST(PublishedFiles, ASyncThatFailedLeavesThePartToo) {
  SessionRig rig(memory_config(), {.plan = {.rules = {{.on = FaultOn::sync, .path_contains = "a.raw"}}}});
  const uint32_t file = open_raw(rig, "a.raw", kPublish);
  write(rig, file, 1);
  EXPECT_EQ(rig.client().files().sync(file).code(), TAILRACE_IO_ERROR);
  EXPECT_EQ(rig.client().files().close(file).code(), TAILRACE_NOT_PUBLISHED);
  rig.stop();
  EXPECT_FALSE(rig.exists("out/a.raw"));
}

TEST(PublishedFiles, AFailureThatNobodyAskedForIsTold) {
  SessionRig rig(memory_config(), {.plan = {.rules = {{.on = FaultOn::rename, .path_contains = "a.raw"}}}});
  iclose_raw(rig, open_raw(rig, "a.raw", kPublish));
  ASSERT_OK(rig.client().flush());
  const std::vector<Fault> told = rig.told();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].operation, "file_close");
  EXPECT_EQ(told[0].file, "out/a.raw");
}

// The order that `durable` promises: data, sync, rename, sync of the directory.
TEST(PublishedFiles, AreDurableBeforeTheyHaveTheirName) {
  SessionRig rig(memory_config(64, Durability::durable));
  const uint32_t file = open_raw(rig, "a.raw", kPublish);
  write(rig, file, 1);
  ASSERT_OK(rig.client().files().close(file));
  rig.stop();
  std::vector<FaultOn> order;
  for (const FaultEvent& event : rig.events()) {
    const bool ends = event.on == FaultOn::rename || event.what == FaultEvent::What::ended;
    if (ends && (event.path == "out/a.raw.partial" || event.path == "out")) order.push_back(event.on);
  }
  order.erase(std::remove(order.begin(), order.end(), FaultOn::open), order.end());
  EXPECT_EQ(order, (std::vector<FaultOn>{FaultOn::write, FaultOn::sync, FaultOn::rename, FaultOn::sync}));
}

TEST(PublishedFiles, OneThatIsNotClosedStaysAPart) {
  SessionRig rig(memory_config());
  const uint32_t file = open_raw(rig, "a.raw", kPublish);
  write(rig, file, 1);
  rig.client().finish();
  const std::vector<Fault> told = rig.told();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].code, TAILRACE_NOT_PUBLISHED);
  EXPECT_EQ(told[0].file, "out/a.raw");
  rig.stop();
  EXPECT_TRUE(rig.exists("out/a.raw.partial"));
  EXPECT_FALSE(rig.exists("out/a.raw"));
}

// Published files are counted by their path, and not among those of iterations.
TEST(PublishedFiles, AreCountedByTheirPath) {
  SessionRig rig(memory_config());
  const uint32_t file = open_raw(rig, "a.raw", kPublish);
  write(rig, file, 1);
  ASSERT_OK(rig.client().files().close(file));
  rig.stop();
  uint64_t written = 0;
  for (const FileBook::Figures& of : rig.client().files().figures()) {
    if (of.path == "a.raw") written = of.counts.bytes_written;
  }
  EXPECT_EQ(written, 100u);
}

}  // namespace
}  // namespace tailrace::impl
