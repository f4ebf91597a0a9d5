// The names and whole files of every back end: FileSystem's calls, which are complete when they return.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "back_ends.hpp"
#include "storage_driver.hpp"

namespace tailrace::impl {
namespace {

class StorageNames : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    Result<std::unique_ptr<Storage>> made =
        make_back_end(GetParam(), doorbell_, {directory_.path(), others_ / "1", others_ / "2"});
    if (!made.ok() && made.status().code() == TAILRACE_UNSUPPORTED) GTEST_SKIP() << made.status().fault().message;
    ASSERT_TRUE(made.ok()) << made.status().fault().message;
    storage_ = std::move(made).value();
  }

  FileSystem& files() { return storage_->files(); }
  FileHandle open(const std::string& name, OpenMode mode = OpenMode::create) {
    const Result<Opened> file = files().open(directory_ / name, mode, 0);
    EXPECT_TRUE(file.ok()) << file.status().fault().message;
    return file.value().file;
  }
  void write(FileHandle file, uint64_t offset, std::vector<std::byte> bytes) {
    ASSERT_EQ(run(*storage_, doorbell_, Transfer::Kind::write, file, offset, bytes, false),
              static_cast<int64_t>(bytes.size()));
  }
  std::vector<std::byte> read(FileHandle file, uint64_t offset, size_t most) {
    std::vector<std::byte> bytes(most, std::byte{0xff});
    const Result<size_t> count = files().read(file, offset, bytes);
    EXPECT_TRUE(count.ok());
    bytes.resize(count.value());
    return bytes;
  }

  Doorbell doorbell_;
  TemporaryDirectory directory_;
  TemporaryDirectory others_;  // of the other devices, for `striped`
  std::unique_ptr<Storage> storage_;
};

INSTANTIATE_TEST_SUITE_P(BackEnds, StorageNames, ::testing::Values("memory", "posix", "striped", "uring"),
                         [](const auto& test) { return test.param; });

std::vector<std::byte> some_bytes(size_t count) {
  std::vector<std::byte> bytes(count);
  for (size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(i + 1);
  return bytes;
}

TEST_P(StorageNames, ReadsEndWhereTheFileDoes) {
  const FileHandle file = open("a");
  write(file, 0, some_bytes(10));
  EXPECT_EQ(files().size(file).value(), 10u);
  EXPECT_EQ(read(file, 0, 10), some_bytes(10));
  EXPECT_EQ(read(file, 8, 10), (std::vector<std::byte>{std::byte{9}, std::byte{10}}));
  EXPECT_TRUE(read(file, 10, 10).empty());
  EXPECT_TRUE(read(file, 1000, 10).empty());
  EXPECT_TRUE(files().sync(file).ok());
}

TEST_P(StorageNames, TruncateCutsAndFillsWithZeros) {
  const FileHandle file = open("a");
  write(file, 0, some_bytes(10));
  ASSERT_TRUE(files().truncate(file, 4).ok());
  EXPECT_EQ(files().size(file).value(), 4u);
  ASSERT_TRUE(files().truncate(file, 6).ok());
  std::vector<std::byte> expected = some_bytes(4);
  expected.resize(6);
  EXPECT_EQ(read(file, 0, 10), expected);
  files().close(file);
  const FileHandle read_only = open("a", OpenMode::read);
  EXPECT_EQ(files().truncate(read_only, 0).fault().system_errno, EINVAL);
  EXPECT_EQ(files().size(read_only).value(), 6u);
}

TEST_P(StorageNames, StatTellsWhatANameLeadsTo) {
  EXPECT_EQ(files().stat(directory_ / "none").status().fault().system_errno, ENOENT);
  const FileHandle file = open("a");
  write(file, 0, some_bytes(10));
  const Result<NameFacts> facts = files().stat(directory_ / "a");
  ASSERT_TRUE(facts.ok());
  EXPECT_EQ(facts.value().kind, NameFacts::Kind::file);
  EXPECT_EQ(facts.value().size, 10u);
  EXPECT_TRUE(facts.value().own);
  open("b");
  EXPECT_FALSE(facts.value().is_same_file(files().stat(directory_ / "b").value()));
  ASSERT_TRUE(files().rename(file, directory_ / "c", false).ok());
  EXPECT_TRUE(facts.value().is_same_file(files().stat(directory_ / "c").value()));
}

TEST_P(StorageNames, ListIsSorted) {
  for (const char* name : {"b", "a", "c"}) files().close(open(name));
  const Result<std::vector<std::string>> names = files().list(directory_.path());
  ASSERT_TRUE(names.ok());
  EXPECT_EQ(names.value(), (std::vector<std::string>{"a", "b", "c"}));
}

TEST_P(StorageNames, DirectoriesAreMadeWithThoseAboveThem) {
  const std::string deep = directory_ / "one/two/three";
  ASSERT_TRUE(files().make_directory(deep).ok());
  ASSERT_TRUE(files().make_directory(deep).ok()) << "it is there already";
  files().close(open("one/two/three/file"));
  EXPECT_EQ(files().list(deep).value(), std::vector<std::string>{"file"});
  EXPECT_EQ(files().list(directory_ / "one").value(), std::vector<std::string>{"two"});
}

TEST_P(StorageNames, OnlyFilesAreOpenedToBeRead) {
  if (GetParam() == "memory") GTEST_SKIP() << "there are files alone in memory";
  ASSERT_EQ(::mkfifo((directory_ / "fifo").c_str(), 0600), 0);
  EXPECT_EQ(files().open(directory_ / "fifo", OpenMode::read, 0).status().code(), TAILRACE_IO_ERROR);
  EXPECT_EQ(files().open(directory_.path(), OpenMode::read, 0).status().fault().system_errno, EISDIR);
  ASSERT_TRUE(std::filesystem::create_directory(directory_ / "folder"));
  ASSERT_EQ(::symlink("folder", (directory_ / "link").c_str()), 0);
  EXPECT_EQ(files().stat(directory_ / "fifo").value().kind, NameFacts::Kind::other);
  EXPECT_EQ(files().stat(directory_ / "folder").value().kind, NameFacts::Kind::directory);
  EXPECT_EQ(files().stat(directory_ / "link").value().kind, NameFacts::Kind::other);
  EXPECT_FALSE(files().stat(directory_ / "folder").value().own);
}

TEST_P(StorageNames, ALockIsOneHolders) {
  Result<std::unique_ptr<NameLock>> lock = files().lock(directory_ / ".lock", "a test");
  ASSERT_TRUE(lock.ok());
  EXPECT_TRUE(lock.value()->held());
  if (GetParam() == "memory") return;  // no other process sees its names
  EXPECT_TRUE(files().is_locked(directory_ / ".lock"));
  EXPECT_EQ(files().lock(directory_ / ".lock", "another").status().code(), TAILRACE_CLIENT_IN_USE);
  lock = Status(TAILRACE_INTERNAL, "given up");
  EXPECT_FALSE(files().is_locked(directory_ / ".lock"));
  EXPECT_FALSE(std::filesystem::exists(directory_ / ".lock"));
}

// The directory of raw files may be reached through a link of its user. Another user may replace what is below by
// links, at any moment after it was looked at.
TEST(RawFileNames, LeadThroughNoLinkBelowTheirDirectory) {
  namespace fs = std::filesystem;
  const TemporaryDirectory scratch;
  fs::create_directories(scratch / "disk/raw/d");
  fs::create_directories(scratch / "elsewhere");
  fs::create_directory_symlink("disk/raw", scratch / "raw");
  fs::create_directory_symlink(scratch / "elsewhere", scratch / "raw/swapped");
  fs::create_symlink(scratch / "elsewhere/secret", scratch / "raw/leaf");
  fs::create_symlink(scratch / "elsewhere/new", scratch / "raw/dangling");
  ASSERT_EQ(::mkfifo((scratch / "raw/pipe").c_str(), 0600), 0);
  std::ofstream(scratch / "elsewhere/secret") << "secret";
  std::ofstream(scratch / "raw/d/a") << "abc";
  Doorbell doorbell;
  auto posix = PosixStorage::create(doorbell, {.cpus = {}, .roots = {scratch / "raw"}});
  auto uring = UringStorage::create(doorbell, {.cpus = {}, .roots = {scratch / "raw/"}});
  for (Storage* storage : {static_cast<Storage*>(posix.value().get()),
                           uring.ok() ? static_cast<Storage*>(uring.value().get()) : nullptr}) {
    if (storage == nullptr) continue;  // this kernel has no io_uring
    FileSystem& files = storage->files();
    for (const OpenMode mode : {OpenMode::edit, OpenMode::view, OpenMode::update, OpenMode::create}) {
      for (const char* const name : {"swapped/secret", "swapped/new", "leaf", "dangling", "pipe", "d"}) {
        const Result<Opened> opened = files.open(scratch / ("raw/" + std::string(name)), mode, 0);
        EXPECT_FALSE(opened.ok()) << name << " opened with mode " << static_cast<int>(mode);
      }
      const Result<Opened> opened = files.open(scratch / "raw/d/a", mode, 0);
      ASSERT_TRUE(opened.ok()) << opened.status().fault().message;
      EXPECT_EQ(files.size(opened.value().file).value(), mode == OpenMode::create ? 0u : 3u);
      EXPECT_TRUE(files.truncate(opened.value().file, 3).ok() || mode == OpenMode::view);
      files.close(opened.value().file);
    }
    EXPECT_FALSE(files.remove_below(scratch / "raw", "swapped/secret").ok());
    EXPECT_TRUE(files.remove_below(scratch / "raw", "d/a").ok());
    EXPECT_FALSE(fs::exists(scratch / "raw/d/a"));
    EXPECT_EQ(fs::file_size(scratch / "elsewhere/secret"), 6u);
    EXPECT_FALSE(fs::exists(scratch / "elsewhere/new"));
    std::ofstream(scratch / "raw/d/a") << "abc";
  }
}

}  // namespace
}  // namespace tailrace::impl
