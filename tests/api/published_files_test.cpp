// Raw files that get their name when they are complete (TAILRACE_FILE_PUBLISH, tailrace_file_iclose), through the C
// API.
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "raw_file.hpp"

namespace {

using test::Bytes;
using test::Directory;
using test::OpenRun;

constexpr int kPublish = TAILRACE_FILE_WRITE | TAILRACE_FILE_PUBLISH;
constexpr int kAnew = kPublish | TAILRACE_FILE_TRUNCATE;

tailrace_file open_file(OpenRun& run, const std::string& path, int mode) {
  tailrace_file file{};
  EXPECT_EQ(tailrace_file_open(run, path.c_str(), mode, &file), TAILRACE_OK) << run.error().message;
  return file;
}

void write(OpenRun& run, tailrace_file file, const std::string& text) {
  const tailrace_extent extent{0, text.size()};
  ASSERT_EQ(tailrace_file_write(file, 1, &extent, text.data()), TAILRACE_OK) << run.error().message;
}

std::string text_of(const test::fs::path& path) {
  const Bytes bytes = test::bytes_of(path);
  return {bytes.begin(), bytes.end()};
}

TEST(PublishedFiles, AnOldFileStaysUntilTheNewOneIsWhole) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  for (const std::string text : {"the first", "second"}) {
    const std::string before = text_of(directory.path() / "a.raw");
    tailrace_file file = open_file(run, "a.raw", kAnew);
    write(run, file, text);
    ASSERT_EQ(tailrace_file_sync(file), TAILRACE_OK) << run.error().message;
    EXPECT_EQ(text_of(directory.path() / "a.raw"), before);
    EXPECT_EQ(text_of(directory.path() / "a.raw.partial"), text);
    char back[3];
    const tailrace_extent extent{1, 3};
    EXPECT_EQ(tailrace_file_read(file, 1, &extent, back), TAILRACE_OK);
    EXPECT_EQ(std::string(back, 3), text.substr(1, 3));
    tailrace_ticket ticket{};
    ASSERT_EQ(tailrace_file_iclose(file, &ticket), TAILRACE_OK) << run.error().message;
    EXPECT_EQ(tailrace_file_close(file), TAILRACE_CLOSED);
    EXPECT_EQ(tailrace_wait(ticket, -1), TAILRACE_OK) << run.error().message;
    EXPECT_EQ(tailrace_wait(ticket, -1), TAILRACE_OK) << "more than once, as any ticket";
    EXPECT_EQ(text_of(directory.path() / "a.raw"), text);
    EXPECT_FALSE(test::fs::exists(directory.path() / "a.raw.partial"));
  }
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST(PublishedFiles, WithoutTruncateThePartIsTakenAsItIs) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  std::ofstream(directory.path() / "a.raw.partial") << "abcdef";
  tailrace_file file = open_file(run, "a.raw", kPublish);
  write(run, file, "XY");
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
  EXPECT_EQ(text_of(directory.path() / "a.raw"), "XYcdef");
  std::ofstream(directory.path() / "a.raw.partial") << "abcdef";
  file = open_file(run, "a.raw", kAnew);
  write(run, file, "Z");
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_OK);
  EXPECT_EQ(text_of(directory.path() / "a.raw"), "Z");
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

TEST(PublishedFiles, ACloseThatNobodyWaitsForIsWaitedForByTheClient) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  tailrace_file published = open_file(run, "a.raw", kPublish);
  tailrace_file other = open_file(run, "b.raw", TAILRACE_FILE_WRITE);
  write(run, published, "published");
  write(run, other, "other");
  tailrace_ticket ticket{};
  EXPECT_EQ(tailrace_file_iclose(published, &ticket), TAILRACE_OK);
  EXPECT_EQ(tailrace_file_iclose(other, &ticket), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);
  EXPECT_EQ(text_of(directory.path() / "a.raw"), "published");
  EXPECT_EQ(text_of(directory.path() / "b.raw"), "other");
}

// More files than may be open at once.
TEST(PublishedFiles, ManyAreClosedOneAfterTheOther) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  for (int i = 0; i < 300; ++i) {
    tailrace_file file = open_file(run, std::to_string(i), kPublish);
    ASSERT_NO_FATAL_FAILURE(write(run, file, std::string(5000, 'x')));
    tailrace_ticket ticket{};
    ASSERT_EQ(tailrace_file_iclose(file, &ticket), TAILRACE_OK) << run.error().message;
  }
  EXPECT_EQ(run.close(), TAILRACE_OK);
  for (int i = 0; i < 300; ++i) {
    EXPECT_EQ(text_of(directory.path() / std::to_string(i)).size(), 5000u);
    EXPECT_FALSE(test::fs::exists(directory.path() / (std::to_string(i) + ".partial")));
  }
}

TEST(PublishedFiles, OneThatFailedIsLeftAndTold) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  std::ofstream(directory.path() / "a.raw") << "old";
  tailrace_file file = open_file(run, "a.raw", kPublish);
  write(run, file, "new");
  const tailrace_extent last{(uint64_t{1} << 62) - 1, 1};
  ASSERT_EQ(tailrace_file_write(file, 1, &last, "x"), TAILRACE_OK);
  tailrace_ticket ticket{};
  const tailrace_status closed = tailrace_file_iclose(file, &ticket);
  EXPECT_TRUE(closed == TAILRACE_OK || closed == TAILRACE_EARLIER_FAILURE) << run.error().message;
  tailrace_status ended = tailrace_wait(ticket, -1);
  if (ended == TAILRACE_OK) GTEST_SKIP() << "this file system has files of 2^62 bytes";
  EXPECT_EQ(ended, TAILRACE_NOT_PUBLISHED) << run.error().message;
  EXPECT_TRUE(run.error().says("a.raw.partial")) << run.error().message;
  EXPECT_EQ(run.error().operation, "file_close");
  EXPECT_EQ(text_of(directory.path() / "a.raw"), "old");
  EXPECT_EQ(text_of(directory.path() / "a.raw.partial"), "new");
  EXPECT_EQ(run.close(), closed == TAILRACE_OK ? TAILRACE_EARLIER_FAILURE : TAILRACE_OK) << "of the write";
}

TEST(PublishedFiles, OneThatIsNotClosedIsLeftAndTold) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  write(run, open_file(run, "a.raw", kPublish), "new");
  tailrace_client* const client = run;
  EXPECT_EQ(run.close(), TAILRACE_EARLIER_FAILURE);
  EXPECT_TRUE(test::last_error(client).says("a.raw.partial"));
  EXPECT_FALSE(test::fs::exists(directory.path() / "a.raw"));
  EXPECT_EQ(text_of(directory.path() / "a.raw.partial"), "new");
}

TEST(PublishedFiles, OneThatIsGivenUpIsLeft) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  tailrace_file file = open_file(run, "a.raw", kPublish);
  write(run, file, "some of it");
  EXPECT_EQ(tailrace_file_give_up(file), TAILRACE_OK);
  EXPECT_EQ(tailrace_file_close(file), TAILRACE_NOT_PUBLISHED);
  EXPECT_TRUE(run.error().says("given up")) << run.error().message;
  EXPECT_EQ(tailrace_file_give_up(file), TAILRACE_CLOSED);
  file = open_file(run, "b.raw", TAILRACE_FILE_WRITE);
  EXPECT_EQ(tailrace_file_give_up(file), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(run.close(), TAILRACE_OK);
  EXPECT_EQ(directory.names(), (std::vector<std::string>{"a.raw.partial", "b.raw"}));
}

TEST(PublishedFiles, BadCallsAreRefused) {
  const Directory directory;
  OpenRun run(test::Config(), directory);
  tailrace_file file{};
  EXPECT_EQ(tailrace_file_open(run, "a.raw", TAILRACE_FILE_PUBLISH, &file), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(tailrace_file_open(run, "a.raw", TAILRACE_FILE_READ | TAILRACE_FILE_PUBLISH, &file),
            TAILRACE_INVALID_ARGUMENT);
  EXPECT_TRUE(run.error().says("TAILRACE_FILE_PUBLISH")) << run.error().message;
  test::fs::create_symlink("elsewhere", directory.path() / "link");
  test::fs::create_symlink("elsewhere", directory.path() / "b.raw.partial");
  for (const char* path : {"link", "b.raw"}) {
    EXPECT_NE(tailrace_file_open(run, path, kAnew, &file), TAILRACE_OK) << path;
  }
  file = open_file(run, "a.raw", kPublish);
  EXPECT_EQ(tailrace_file_iclose(file, nullptr), TAILRACE_INVALID_ARGUMENT);
  tailrace_ticket ticket{};
  EXPECT_EQ(tailrace_file_iclose(file, &ticket), TAILRACE_OK);
  EXPECT_EQ(tailrace_wait(ticket, -1), TAILRACE_OK);
  EXPECT_EQ(tailrace_file_iclose(file, &ticket), TAILRACE_CLOSED);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

}  // namespace
