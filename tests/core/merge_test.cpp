// `merge:` in place `core`, with several clients of one file: who sees pending writes, what a read causes, what is
// counted, and that all clients must agree.
//
// With `by: count`, writes stay pending until something waits for them, so nothing here depends on time.
#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "core_files.hpp"
#include "raw_file.hpp"

namespace {

using test::Bytes;
using test::CoreNode;
using test::Directory;
using test::Extents;
using test::OpenRun;

constexpr int kWrite = TAILRACE_FILE_WRITE;
constexpr tailrace_extent kExtent{100, 8};

test::Config config_of(const std::string& merge) {
  test::Config config = test::core_config();
  config.merge = merge;
  return config;
}

tailrace_file open_file(OpenRun& run, const std::string& path, int mode = kWrite) {
  tailrace_file file{};
  EXPECT_EQ(tailrace_file_open(run, path.c_str(), mode, &file), TAILRACE_OK) << run.error().message;
  return file;
}

std::string read(tailrace_file file, const tailrace_extent& extent = kExtent) {
  std::string bytes(extent.length, '?');
  EXPECT_EQ(tailrace_file_read(file, 1, &extent, bytes.data()), TAILRACE_OK);
  return bytes;
}

tailrace_file_stats stats_of(OpenRun& run, const char* path) {
  tailrace_file_stats stats{};
  stats.struct_size = sizeof stats;
  EXPECT_EQ(tailrace_get_file_stats(run, path, &stats), TAILRACE_OK) << run.error().message;
  return stats;
}

// Two clients of one file. The first has written, and the server has that.
struct TwoClients {
  CoreNode node;
  Directory directory{"/dev/shm"};
  OpenRun writer;
  OpenRun reader;
  tailrace_file written{};
  tailrace_file looked_at{};

  explicit TwoClients(const std::string& merge)
      : writer(config_of(merge), directory, 0), reader(config_of(merge), directory, 1) {
    written = open_file(writer, "a.raw");
    looked_at = open_file(reader, "a.raw", TAILRACE_FILE_READ);
    EXPECT_EQ(tailrace_file_write(written, 1, &kExtent, "abcdefgh"), TAILRACE_OK);
  }
  uint64_t file_bytes() const { return test::bytes_of(directory.path() / "a.raw").size(); }
};

TEST(MergeCore, VisibilityPendingReadsWhatAnotherHasYetToWrite) {
  TwoClients two("{by: count, visibility: pending}");
  ASSERT_EQ(read(two.written), "abcdefgh") << "its own bytes: they have come to the server";
  EXPECT_EQ(read(two.looked_at), "abcdefgh");
  EXPECT_EQ(two.file_bytes(), 0u) << "nothing has been written";
  EXPECT_EQ(tailrace_flush(two.reader), TAILRACE_OK);
  EXPECT_EQ(stats_of(two.reader, "a.raw").bytes_from_memory, 16u) << "whoever has read";
  EXPECT_EQ(tailrace_file_close(two.written), TAILRACE_OK);
  EXPECT_EQ(two.file_bytes(), 108u);
}

TEST(MergeCore, VisibilityWrittenWaitsUntilAnotherHasWritten) {
  TwoClients two("{by: count}");
  ASSERT_EQ(read(two.written), "abcdefgh");
  EXPECT_EQ(two.file_bytes(), 0u) << "its own it reads from memory";
  EXPECT_EQ(read(two.looked_at), "abcdefgh");
  EXPECT_EQ(two.file_bytes(), 108u) << "which lets the write go";
  EXPECT_EQ(tailrace_flush(two.reader), TAILRACE_OK);
  EXPECT_EQ(stats_of(two.reader, "a.raw").bytes_from_memory, 8u);
}

TEST(MergeCore, ReadAfterWrittenImpliesThatTheBytesAreInTheFile) {
  TwoClients two("{by: count, read_after: written, visibility: pending}");
  EXPECT_EQ(read(two.written), "abcdefgh");
  EXPECT_EQ(two.file_bytes(), 108u);
  EXPECT_EQ(tailrace_flush(two.writer), TAILRACE_OK);
  EXPECT_EQ(stats_of(two.writer, "a.raw").bytes_from_memory, 0u);
}

// Columns of a matrix in turn: each client sees what the server did for both.
TEST(MergeCore, WhatIsCountedOfAFileIsOfAllItsClients) {
  constexpr uint64_t kRows = 64;
  constexpr uint64_t kPiece = 100;
  TwoClients two("{by: count, count: 128}");
  ASSERT_EQ(tailrace_flush(two.writer), TAILRACE_OK);
  tailrace_file files[] = {open_file(two.writer, "matrix.raw"), open_file(two.reader, "matrix.raw")};
  const Bytes bytes(kPiece, 'x');
  for (uint64_t i = 0; i < 2 * kRows; ++i) {
    const tailrace_extent piece{i * kPiece, kPiece};
    ASSERT_EQ(tailrace_file_write(files[i % 2], 1, &piece, bytes.data()), TAILRACE_OK);
  }
  ASSERT_EQ(tailrace_file_close(files[0]), TAILRACE_OK);
  ASSERT_EQ(tailrace_file_close(files[1]), TAILRACE_OK);
  const tailrace_file_stats of = stats_of(two.reader, "matrix.raw");
  EXPECT_EQ(of.writes, kRows) << "its own calls";
  EXPECT_EQ(of.bytes_written, kRows * kPiece);
  EXPECT_EQ(of.handover.count, kRows);
  EXPECT_EQ(of.waiting.count, 1u);
  EXPECT_EQ(of.before.count, 2 * kRows) << "the server's requests";
  EXPECT_EQ(of.before.buckets[6], 2 * kRows);
  EXPECT_EQ(of.before.bytes, 2 * kRows * kPiece);
  EXPECT_EQ(of.after.bytes, 2 * kRows * kPiece);
  EXPECT_LT(of.after.count, kRows / 4);
  EXPECT_GT(of.requests_merged, kRows);
}

// A server dies and another replaces it: the first one's counts remain.
TEST(MergeCore, WhatIsCountedOutlivesTheServer) {
  TwoClients two("{}");
  ASSERT_EQ(tailrace_file_sync(two.written), TAILRACE_OK);
  ASSERT_EQ(stats_of(two.writer, "a.raw").before.count, 1u);
  ASSERT_GE(two.node.kill_servers(SIGKILL), 1);
  const tailrace_extent more{0, 4};
  ASSERT_EQ(tailrace_file_write(two.written, 1, &more, "1234"), TAILRACE_OK);
  ASSERT_EQ(tailrace_file_close(two.written), TAILRACE_OK) << two.writer.error().message;
  const tailrace_file_stats of = stats_of(two.writer, "a.raw");
  EXPECT_EQ(of.writes, 2u);
  EXPECT_EQ(of.before.count, 2u);
  EXPECT_EQ(of.after.bytes, 12u);
}

// Nothing waits for what it has handed over, and it is written all the same.
TEST(MergeCore, WhatADeadClientHasHandedOverIsNotHeld) {
  const CoreNode node;
  const Directory directory("/dev/shm");
  setenv("TAILRACE_TEST_PLACE", "core", 1);
  setenv("TAILRACE_TEST_MERGE", "{by: count}", 1);
  test::OtherProcess client(TEST_OTHER_PROCESS);
  unsetenv("TAILRACE_TEST_PLACE");
  unsetenv("TAILRACE_TEST_MERGE");
  ASSERT_EQ(client.ask("open " + directory.path().string() + " run 0"), "0");
  ASSERT_EQ(client.ask("raw_open a.raw"), "0");
  ASSERT_EQ(client.ask("raw_write 100 8 x"), "0");
  client.end(SIGKILL);
  node.wait_end_of_servers();
  EXPECT_EQ(test::bytes_of(directory.path() / "a.raw").size(), 108u);
  EXPECT_EQ(node.leavings(), std::vector<std::string>());
}

TEST(MergeCore, ClientsOfAServerMustAgree) {
  struct Case {
    const char* merge;
    const char* says;
  };
  const Case cases[] = {
      {"{enabled: false}", "merge.enabled 'false', expected 'true'"},
      {"{overwrite: false}", "merge.overwrite 'false', expected 'true'"},
      {"{largest: 1 MiB}", "merge.largest '1 MiB', expected '8 MiB'"},
      {"{alignment: 1 MiB}", "merge.alignment '1 MiB', expected 'not set'"},
      {"{count: 7}", "merge.count '7', expected '32768'"},
      {"{bytes: 1 MiB}", "merge.bytes '1 MiB', expected '64 MiB'"},
      {"{delay: 0.5}", "merge.delay '0.5', expected '0.1'"},
      {"{by: count}", "merge.by 'count', expected 'storage'"},
      {"{read_after: written}", "merge.read_after 'written', expected 'submitted'"},
      {"{visibility: pending}", "merge.visibility 'pending', expected 'written'"},
  };
  const CoreNode node;
  const Directory directory("/dev/shm");
  OpenRun first(config_of("{}"), directory, 0);
  ASSERT_TRUE(first.opened()) << first.error().message;
  for (const Case& of : cases) {
    OpenRun other(config_of(of.merge), directory, 1);
    ASSERT_FALSE(other.opened()) << of.merge;
    EXPECT_EQ(other.error().status, TAILRACE_INVALID_CONFIG) << other.error().message;
    EXPECT_TRUE(other.error().says(of.says)) << other.error().message;
  }
  OpenRun same(config_of("{by: storage, count: 32768}"), directory, 1);
  EXPECT_TRUE(same.opened()) << same.error().message;
}

}  // namespace
