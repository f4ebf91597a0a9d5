// The counts of a session for each file (FileLog, FileBook, FileMeter).
#include <gtest/gtest.h>

#include <map>

#include "testing/raw_files_rig.hpp"

namespace tailrace::impl {
namespace {

using Kind = FileFigures::Kind;

void write(SessionRig& rig, uint32_t file, std::vector<tailrace_extent> extents) {
  uint64_t total = 0;
  for (const tailrace_extent& extent : extents) total += extent.length;
  ASSERT_OK(rig.client().files().write(file, extents, block(total, 1).data()));
}

FileBook::Figures figures_of(SessionRig& rig, const std::string& path) {
  for (FileBook::Figures& of : rig.client().files().figures()) {
    if (of.path == path) return std::move(of);
  }
  ADD_FAILURE() << "nothing is known of " << path;
  return {};
}

TEST(FileFigures, SayWhatMergingMadeOfManyPieces) {
  constexpr uint64_t kPieces = 64;
  SessionRig rig(memory_config(), {.shut = true});
  const uint32_t file = open_raw(rig, "a.raw");
  const uint32_t other = open_raw(rig, "b.raw");
  for (uint64_t i = 0; i < kPieces; ++i) {
    write(rig, file, {{i * 7 % kPieces * 100, 100}});
    if (i == 0) rig.gate().wait_for(1);  // alone, so that the others gather
  }
  write(rig, other, {{5000, 1000}, {0, 3}});
  std::vector<std::byte> back(32);
  const tailrace_extent extent{3200, 32};
  // Served from the memory of a write; afterwards the server has taken all of them.
  ASSERT_OK(rig.client().files().read(file, {&extent, 1}, back.data()));
  rig.gate().open();
  ASSERT_OK(rig.client().files().close(file));
  ASSERT_OK(rig.client().files().close(other));
  const FileBook::Figures of = figures_of(rig, "a.raw");
  EXPECT_EQ(of.counts.kind, Kind::raw);
  EXPECT_EQ(of.counts.path, "a.raw");
  EXPECT_EQ(of.counts.writes, kPieces);
  EXPECT_EQ(of.counts.bytes_written, kPieces * 100);
  EXPECT_EQ(of.counts.reads, 1u);
  EXPECT_EQ(of.counts.bytes_read, 32u);
  EXPECT_EQ(of.times->handover.count(), kPieces);
  EXPECT_EQ(of.times->waiting.count(), 2u) << "of a read and the close";
  EXPECT_EQ(of.counts.before.count(), kPieces + 1) << "pieces of requests, the read's among them";
  EXPECT_EQ(of.counts.before.bytes, kPieces * 100 + 32);
  EXPECT_EQ(of.counts.before.buckets[6], kPieces) << "from 64 bytes on";
  EXPECT_EQ(of.counts.before.buckets[5], 1u);
  EXPECT_LT(of.counts.after.count(), kPieces / 2);
  EXPECT_GT(of.counts.merged, kPieces / 2);
  EXPECT_GT(of.counts.after.most, 1000u);
  EXPECT_EQ(of.counts.after.bytes + of.counts.stolen, of.counts.before.bytes);
  EXPECT_EQ(of.counts.overwritten, 0u);
  const FileBook::Figures apart = figures_of(rig, "b.raw");
  EXPECT_EQ(apart.counts.writes, 1u);
  EXPECT_EQ(apart.counts.before.count(), 2u);
  EXPECT_EQ(apart.counts.after.bytes, 1003u);
  EXPECT_EQ(apart.counts.merged, 0u);
}

// While transfers are held back: the first write is under way, so the second cannot be avoided.
TEST(FileFigures, SayWhatNeededNoStorage) {
  SessionRig rig(memory_config(), {.shut = true});
  const uint32_t file = open_raw(rig, "a.raw");
  write(rig, file, {{100'000, 10}});
  rig.gate().wait_for(1);
  write(rig, file, {{0, 1000}});
  write(rig, file, {{200, 500}});
  std::vector<std::byte> back(400);
  const tailrace_extent extent{300, 400};
  ASSERT_OK(rig.client().files().read(file, {&extent, 1}, back.data()));
  rig.gate().open();
  ASSERT_OK(rig.client().files().close(file));
  ASSERT_OK(rig.client().flush());
  const FileFigures of = figures_of(rig, "a.raw").counts;
  EXPECT_EQ(of.overwritten, 500u);
  EXPECT_EQ(of.stolen, 400u);
  EXPECT_EQ(of.before.bytes, 10u + 1000 + 500 + 400);
  EXPECT_EQ(of.after.bytes, 10u + 1000);
  EXPECT_EQ(rig.counters().bytes_overwritten.get(), 500u);
  EXPECT_EQ(rig.counters().bytes_stolen.get(), 400u);
}

TEST(FileFigures, SayWhatWasReadForNothing) {
  EngineOptions engine;
  engine.merge.sieve = 100;
  SessionRig rig(memory_config(), {.engine = engine});
  const uint32_t file = open_raw(rig, "a.raw");
  write(rig, file, {{0, 1000}});
  ASSERT_OK(rig.client().flush());
  const std::vector<tailrace_extent> extents{{0, 200}, {240, 200}, {500, 100}};
  std::vector<std::byte> back(500);
  ASSERT_OK(rig.client().files().read(file, extents, back.data()));
  ASSERT_OK(rig.client().files().close(file));
  ASSERT_OK(rig.client().flush());
  const FileFigures of = figures_of(rig, "a.raw").counts;
  EXPECT_EQ(of.sieved, 100u);
  EXPECT_EQ(of.before.bytes, 1500u);
  EXPECT_EQ(of.after.bytes, 1600u);
  EXPECT_EQ(of.after.count(), 2u);
  EXPECT_EQ(rig.counters().bytes_sieved.get(), 100u);
}

TEST(FileFigures, OfAFileThatIsOpenTwiceCountOnce) {
  SessionRig rig(memory_config());
  const uint32_t one = open_raw(rig, "a.raw");
  write(rig, one, {{0, 10}});
  const uint32_t other = open_raw(rig, "./a.raw");
  write(rig, other, {{100, 10}});
  ASSERT_OK(rig.client().files().close(one));
  write(rig, other, {{200, 10}});
  ASSERT_OK(rig.client().files().close(other));
  write(rig, open_raw(rig, "a.raw"), {{300, 10}});
  ASSERT_OK(rig.client().flush());
  const FileFigures of = figures_of(rig, "a.raw").counts;
  EXPECT_EQ(of.writes, 4u);
  EXPECT_EQ(of.before.count(), 4u);
  EXPECT_EQ(of.after.bytes, 40u);
}

// There are as many records as files may be open; one record has the sum of all older ones.
TEST(FileFigures, OfTheLatestFilesEachAndOfAllOthersTogether) {
  constexpr uint64_t kFiles = 150;
  SessionRig rig(memory_config());
  const uint32_t always = open_raw(rig, "always.raw");
  write(rig, always, {{0, 7}});
  for (uint64_t i = 0; i < kFiles; ++i) {
    const uint32_t file = open_raw(rig, "f" + std::to_string(i));
    write(rig, file, {{0, 100 + i}});
    ASSERT_OK(rig.client().files().close(file));
  }
  ASSERT_OK(rig.client().files().close(always));
  const std::vector<FileBook::Figures> all = rig.client().files().figures();
  ASSERT_EQ(all.size(), FileLog::kKept + 1);
  EXPECT_EQ(figures_of(rig, "always.raw").counts.bytes_written, 7u);
  for (uint64_t i = kFiles - FileLog::kKept + 1; i < kFiles; ++i) {
    EXPECT_EQ(figures_of(rig, "f" + std::to_string(i)).counts.after.bytes, 100 + i);
  }
  const FileBook::Figures& others = all.back();
  constexpr uint64_t kOthers = kFiles - (FileLog::kKept - 1);
  EXPECT_EQ(others.counts.kind, Kind::others);
  EXPECT_EQ(others.path, "");
  EXPECT_EQ(others.counts.writes, kOthers);
  EXPECT_EQ(others.counts.after.bytes, kOthers * 100 + kOthers * (kOthers - 1) / 2);
  EXPECT_EQ(others.times->handover.count(), kOthers);
}

TEST(FileFigures, OfIterationsAreTogether) {
  SessionRig rig(memory_config());
  for (int64_t i = 0; i < 3; ++i) {
    ASSERT_OK(rig.client().write("a", i, page(1).data()));
    ASSERT_OK(rig.client().write("b", i, page(2).data()));
    ASSERT_OK(rig.client().end_iteration(i));
  }
  ASSERT_OK(rig.client().flush());
  const std::vector<FileBook::Figures> all = rig.client().files().figures();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].counts.kind, Kind::iterations);
  EXPECT_EQ(all[0].times, nullptr);
  EXPECT_GE(all[0].counts.before.bytes, 3u * 2 * 4096);
  EXPECT_GE(all[0].counts.before.buckets[12], 6u) << "pages, beside metadata";
  EXPECT_EQ(all[0].counts.after.bytes, all[0].counts.before.bytes);
}

TEST(FileFigures, ATraceNamesFilesAndWhatWentTogether) {
  SessionRig rig(memory_config(), {.shut = true});
  const uint32_t file = open_raw(rig, "a.raw");
  for (uint64_t i = 0; i < 32; ++i) write(rig, file, {{i * 100, 100}});
  rig.gate().open();
  ASSERT_OK(rig.client().files().sync(file));
  ASSERT_OK(rig.client().files().close(file));
  rig.stop();
  using What = TraceEvent::What;
  std::map<What, int> calls;
  for (const TraceEvent& event : rig.client_trace().events()) {
    ++calls[event.what];
    EXPECT_EQ(event.file, file);
    EXPECT_LE(event.start, event.end);
  }
  const std::map<What, int> expected = {
      {What::file_open, 1}, {What::file_write, 32}, {What::file_sync, 1}, {What::file_close, 1}};
  EXPECT_EQ(calls, expected);
  int merged = 0;
  for (const TraceEvent& event : rig.server_trace().events()) {
    EXPECT_EQ(event.file, file);
    EXPECT_EQ(event.bytes, 100u);
    EXPECT_LE(event.start, event.begun);
    EXPECT_LE(event.begun, event.end);
    merged += event.merged ? 1 : 0;
  }
  EXPECT_EQ(rig.server_trace().events().size(), 32u);
  EXPECT_EQ(static_cast<uint64_t>(merged), figures_of(rig, "a.raw").counts.merged);
  EXPECT_EQ(rig.client().files().name(file), "a.raw");
}

}  // namespace
}  // namespace tailrace::impl
