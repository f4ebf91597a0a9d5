// Raw files when storage fails (promise 1), and which parts of a file reach storage when.
#include <gtest/gtest.h>

#include "testing/raw_files_rig.hpp"

namespace tailrace::impl {
namespace {

constexpr int kWrite = TAILRACE_FILE_WRITE;

Status write(SessionRig& rig, uint32_t file, std::vector<tailrace_extent> extents, uint64_t number) {
  uint64_t total = 0;
  for (const tailrace_extent& extent : extents) total += extent.length;
  return rig.client().files().write(file, extents, block(total, number).data());
}

TEST(SessionRawFiles, AFailedWriteIsToldWithFileAndOffset) {
  SessionRig rig(memory_config(), {.plan = {.rules = {{.on = FaultOn::write, .path_contains = "bad.raw"}}}});
  const uint32_t good = open_raw(rig, "good.raw");
  const uint32_t bad = open_raw(rig, "bad.raw");
  ASSERT_OK(write(rig, bad, {{4096, 10}, {100, 20}, {8192, 5}}, 1));
  ASSERT_OK(write(rig, good, {{0, 50}}, 2));
  ASSERT_OK(rig.client().files().close(bad));
  const std::vector<Fault> told = rig.told();
  ASSERT_EQ(told.size(), 1u);
  EXPECT_EQ(told[0].operation, "file_write");
  EXPECT_EQ(told[0].file, "out/bad.raw");
  EXPECT_EQ(told[0].system_errno, EIO);
  EXPECT_EQ(told[0].code, TAILRACE_IO_ERROR);
  EXPECT_EQ(told[0].iteration, -1);
  EXPECT_EQ(told[0].variable, "");
  EXPECT_EQ(told[0].message,
            "file_write of 3 extents from offset 100 to 8197: write 'out/bad.raw': Input/output error: "
            "piece 1 of 3, 20 bytes at offset 100");
  ASSERT_OK(rig.client().files().sync(good));
  ASSERT_OK(rig.client().files().close(good));
  rig.stop();
  EXPECT_EQ(*rig.bytes("out/good.raw"), block(50, 2));
  EXPECT_EQ(rig.failures().total(), 1u);
  rig.client().pool().collect();
  EXPECT_EQ(rig.client().pool().held(), 0u) << "memory of failed writes comes back";
}

// Other requests' failures, and those already reported, are not failures of a sync.
TEST(SessionRawFiles, ASyncFailsIfTheDeviceDoes) {
  SessionRig rig(memory_config(), {.plan = {.rules = {{.on = FaultOn::write, .path_contains = "a.raw"},
                                                      {.on = FaultOn::sync, .path_contains = "a.raw", .first = 1}}}});
  const uint32_t file = open_raw(rig, "a.raw");
  ASSERT_OK(write(rig, file, {{0, 10}}, 1));
  ASSERT_OK(rig.client().files().sync(file));
  EXPECT_EQ(rig.told().size(), 1u) << "of the write";
  ASSERT_OK(write(rig, file, {{0, 10}}, 2));
  const Status failed = rig.client().files().sync(file);
  ASSERT_EQ(failed.code(), TAILRACE_IO_ERROR);
  EXPECT_EQ(failed.fault().operation, "file_sync");
  EXPECT_EQ(failed.fault().file, "out/a.raw");
  EXPECT_EQ(failed.fault().system_errno, EIO);
  EXPECT_EQ(rig.client().files().sync(file).code(), TAILRACE_IO_ERROR)
      << "what is on the device is not known any more";
  ASSERT_OK(rig.client().files().close(file));
  EXPECT_TRUE(rig.told().empty());
  rig.stop();
  EXPECT_EQ(*rig.bytes("out/a.raw"), block(10, 2));
}

TEST(SessionRawFiles, ASyncComesAfterAllWritesOfTheClient) {
  SessionRig rig(memory_config());
  const uint32_t file = open_raw(rig, "a.raw");
  for (uint64_t i = 0; i < 8; ++i) ASSERT_OK(write(rig, file, {{i * 100, 50}}, i));
  ASSERT_OK(rig.client().files().sync(file));
  rig.stop();
  uint64_t written = 0;
  bool synced = false;
  for (const FaultEvent& event : rig.events()) {
    if (event.what == FaultEvent::What::ended && event.on == FaultOn::write) written += event.length;
    if (event.what != FaultEvent::What::begun || event.on != FaultOn::sync || event.path != "out/a.raw") continue;
    synced = true;
    EXPECT_EQ(written, 8u * 50);
  }
  EXPECT_TRUE(synced);
}

TEST(SessionRawFiles, AFailedReadIsToldByItsCallAlone) {
  SessionRig rig(memory_config(), {.plan = {.rules = {{.on = FaultOn::read, .path_contains = "a.raw"}}}});
  const uint32_t file = open_raw(rig, "a.raw");
  ASSERT_OK(write(rig, file, {{0, 100}}, 1));
  ASSERT_OK(rig.client().flush());
  const tailrace_extent extent{10, 20};
  std::vector<std::byte> back(20);
  const Status failed = rig.client().files().read(file, {&extent, 1}, back.data());
  ASSERT_EQ(failed.code(), TAILRACE_IO_ERROR);
  EXPECT_EQ(failed.fault().operation, "file_read");
  EXPECT_NE(failed.fault().message.find("20 bytes at offset 10"), std::string::npos) << failed.fault().message;
  ASSERT_OK(rig.client().files().read(file, {&extent, 1}, back.data()));
  EXPECT_EQ(back[0], block(100, 1)[10]);
  EXPECT_TRUE(rig.told().empty());
}

// The server cannot end anything while transfers are held back, so the answer is not its own.
TEST(SessionRawFiles, AReadOfOwnPendingWritesNeedsNoServer) {
  SessionRig rig(memory_config(), {.shut = true});
  const uint32_t file = open_raw(rig, "a.raw");
  const uint32_t same = open_raw(rig, "./a.raw");
  std::vector<std::byte> back(40);
  const auto read = [&](uint32_t from, tailrace_extent extent) {
    back.resize(extent.length);
    return rig.client().files().read(from, {&extent, 1}, back.data());
  };
  ASSERT_OK(write(rig, file, {{0, 100}}, 1));
  ASSERT_OK(read(file, {10, 20}));
  EXPECT_EQ(rig.client().files().served(), 0u) << "before the first read nothing is known of what was written";
  ASSERT_OK(write(rig, file, {{500, 50}, {200, 50}}, 2));
  ASSERT_OK(write(rig, same, {{210, 10}}, 3));
  ASSERT_OK(read(file, {200, 50}));
  std::vector<std::byte> expected = block(100, 2);
  expected.erase(expected.begin(), expected.begin() + 50);
  const std::vector<std::byte> later = block(10, 3);
  std::copy(later.begin(), later.end(), expected.begin() + 10);
  EXPECT_EQ(back, expected);
  EXPECT_EQ(rig.client().files().served(), 50u);
  rig.gate().open();
  ASSERT_OK(rig.client().flush());
  ASSERT_OK(read(same, {200, 50}));
  EXPECT_EQ(back, expected);
  EXPECT_EQ(rig.client().files().served(), 50u) << "it is in the file now";
  for (const FileBook::Figures& of : rig.client().files().figures()) {
    if (of.path != "a.raw") continue;
    EXPECT_EQ(of.counts.stolen, 20u + 50);
  }
  ASSERT_OK(rig.client().files().close(file));
  ASSERT_OK(rig.client().files().close(same));
}

TEST(SessionRawFiles, AnOpeningThatFailsLeavesNothing) {
  SessionRig rig(memory_config(),
                 {.plan = {.rules = {{.on = FaultOn::open, .path_contains = "a.raw", .error = EMFILE}}}});
  const Status failed = rig.client().files().open("a.raw", kWrite).status();
  ASSERT_EQ(failed.code(), TAILRACE_IO_ERROR);
  EXPECT_EQ(failed.fault().operation, "file_open");
  EXPECT_EQ(failed.fault().system_errno, EMFILE);
  EXPECT_EQ(rig.client().pool().held(), 0u);
  const uint32_t file = open_raw(rig, "a.raw");
  EXPECT_GT(rig.client().pool().held(), 0u) << "its path stays where a next server would find it";
  ASSERT_OK(rig.client().files().close(file));
  ASSERT_OK(rig.client().flush());  // the server gives it back just after it has reported the close
  rig.client().pool().collect();
  EXPECT_EQ(rig.client().pool().held(), 0u);
  EXPECT_TRUE(rig.told().empty());
}

// Otherwise the reader's file would be another one for the engine than the writers', and reads would miss their
// writes.
TEST(SessionRawFiles, AFileThatCanBeWrittenIsNotOpenedForReadingAlone) {
  SessionRig rig(memory_config(), {.plan = {.rules = {{.on = FaultOn::open, .path_contains = "a.raw", .first = 2}}}});
  const uint32_t file = open_raw(rig, "a.raw");
  ASSERT_OK(write(rig, file, {{0, 100}}, 1));
  ASSERT_OK(rig.client().files().close(file));
  const Status failed = rig.client().files().open("a.raw", TAILRACE_FILE_READ).status();
  EXPECT_EQ(failed.code(), TAILRACE_IO_ERROR);
  EXPECT_EQ(failed.fault().system_errno, EIO);
  const uint32_t again = open_raw(rig, "a.raw", TAILRACE_FILE_READ);
  ASSERT_OK(rig.client().files().close(again));
}

// An open file holds a little of the budget, which no call may wait for.
TEST(SessionRawFiles, ABlockThatNeverFitsBesideAnOpenFileIsAnErrorAtOnce) {
  Config config = sample_config({"out"}, {{"all", ElementType::uint8, {16 * 4096}}});
  config.storage.backend = Backend::memory;
  config.memory.budget = 16 * 4096;
  SessionRig rig(config);
  const uint32_t file = open_raw(rig, "a.raw");
  const std::vector<std::byte> all = block(16 * 4096, 1);
  EXPECT_EQ(rig.client().write("all", 0, all.data()).code(), TAILRACE_BUDGET_HELD);
  ASSERT_OK(rig.client().files().close(file));
  ASSERT_OK(rig.client().write("all", 0, all.data()));
}

}  // namespace
}  // namespace tailrace::impl
