// LockFile and OsFile on a real directory.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "base/os/lock_file.hpp"
#include "base/os/os_file.hpp"
#include "testing/scratch.hpp"

namespace tailrace::impl {
namespace {

namespace fs = std::filesystem;

TEST(LockFile, OneAtATime) {
  const ScratchDirectory directory;
  const std::string path = directory / ".a.lock";
  {
    const Result<LockFile> first = LockFile::acquire(path, "process 7 on a\nhost");
    ASSERT_TRUE(first.ok());
    EXPECT_TRUE(first.value().held());
    struct stat info {};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 0777, 0600u);
    const Result<LockFile> second = LockFile::acquire(path);
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.status().code(), TAILRACE_CLIENT_IN_USE);
    EXPECT_EQ(second.status().fault().file, path);
    EXPECT_TRUE(second.status().fault().message.ends_with("is locked by process 7 on a?host"))
        << second.status().fault().message;
    EXPECT_TRUE(fs::exists(path)) << "a refused attempt must leave the holder's file";
  }
  EXPECT_FALSE(fs::exists(path));
  EXPECT_TRUE(LockFile::acquire(path).ok());
}

TEST(LockFile, AFileThatADeadProcessLeftIsTaken) {
  const ScratchDirectory directory;
  const std::string path = directory / ".a.lock";
  EXPECT_FALSE(LockFile::is_held(path));
  std::ofstream(path) << "left";
  EXPECT_FALSE(LockFile::is_held(path));
  const Result<LockFile> lock = LockFile::acquire(path);
  EXPECT_TRUE(lock.ok());
}

// Nodes that share files find by the text who may still write, and may look at any moment: a text that is replaced is
// never gone in between.
TEST(LockFile, TheNextHoldersNameReplacesThatOfADeadOneInOneStep) {
  const ScratchDirectory directory;
  const std::string path = directory / ".a.lock";
  {
    Result<LockFile> dead = LockFile::acquire(path, "a process with a long name");
    ASSERT_TRUE(dead.ok());
    dead.value().leave_file();
  }
  const auto length = fs::file_size(path);
  const Result<LockFile> next = LockFile::acquire(path, "a short one");
  ASSERT_TRUE(next.ok());
  EXPECT_EQ(fs::file_size(path), length) << "it was not emptied first";
  std::string line;
  std::getline(std::ifstream(path), line);
  EXPECT_EQ(line, "a short one");
  EXPECT_TRUE(LockFile::acquire(path).status().fault().message.ends_with("is locked by a short one"));
}

TEST(LockFile, AnotherProcessHoldsItUntilItEndsHoweverThatHappens) {
  const ScratchDirectory directory;
  const std::string path = directory / ".a.lock";
  int ready[2];
  int leave[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(leave), 0);
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    const Result<LockFile> lock = LockFile::acquire(path);
    char word = lock.ok() ? 'y' : 'n';
    if (write(ready[1], &word, 1) == 1 && read(leave[0], &word, 1) < 2) _exit(0);  // without any cleaning up
    _exit(1);
  }
  char word = 0;
  ASSERT_EQ(read(ready[0], &word, 1), 1);
  EXPECT_EQ(word, 'y');
  EXPECT_TRUE(LockFile::is_held(path));
  EXPECT_EQ(LockFile::acquire(path).status().code(), TAILRACE_CLIENT_IN_USE);
  ASSERT_EQ(write(leave[1], &word, 1), 1);
  waitpid(child, nullptr, 0);
  EXPECT_TRUE(fs::exists(path));
  EXPECT_FALSE(LockFile::is_held(path));
  EXPECT_TRUE(LockFile::acquire(path).ok());
  for (const int fd : {ready[0], ready[1], leave[0], leave[1]}) close(fd);
}

TEST(LockFile, MovedItIsReleasedOnce) {
  const ScratchDirectory directory;
  const std::string path = directory / ".a.lock";
  Result<LockFile> lock = LockFile::acquire(path);
  ASSERT_TRUE(lock.ok());
  {
    const LockFile moved = std::move(lock).value();
    EXPECT_EQ(LockFile::acquire(path).status().code(), TAILRACE_CLIENT_IN_USE);
  }
  const Result<LockFile> again = LockFile::acquire(path);
  EXPECT_TRUE(again.ok());
}

TEST(LockFile, WhereNoFileCanBeMade) {
  const ScratchDirectory directory;
  const Result<LockFile> lock = LockFile::acquire(directory / "missing/.a.lock");
  ASSERT_FALSE(lock.ok());
  EXPECT_EQ(lock.status().code(), TAILRACE_IO_ERROR);
  EXPECT_EQ(lock.status().fault().system_errno, ENOENT);
}

TEST(OsFile, CreateReplacesAndReadDoesNot) {
  const ScratchDirectory directory;
  const std::string path = directory / "file";
  EXPECT_EQ(OsFile::open(path, OsFile::Mode::read, false).status().fault().system_errno, ENOENT);
  {
    const Result<OsFile> file = OsFile::open(path, OsFile::Mode::create, true);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(pwrite(file.value().buffered(), "abc", 3, 0), 3);
    if (file.value().direct() >= 0) {
      EXPECT_NE(fcntl(file.value().direct(), F_GETFL) & O_DIRECT, 0);
    }
  }
  EXPECT_EQ(fs::file_size(path), 3u);
  {
    const Result<OsFile> file = OsFile::open(path, OsFile::Mode::read, false);
    ASSERT_TRUE(file.ok());
    EXPECT_EQ(file.value().direct(), -1);
    char bytes[4] = {};
    EXPECT_EQ(pread(file.value().buffered(), bytes, 4, 0), 3);
    EXPECT_LT(pwrite(file.value().buffered(), "x", 1, 0), 0);
  }
  const Result<OsFile> again = OsFile::open(path, OsFile::Mode::create, false);
  EXPECT_TRUE(again.ok());
  EXPECT_EQ(fs::file_size(path), 0u);
}

size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<size_t>(std::distance(begin(all), end(all)));
}

// Small files never bypass the page cache, so a second descriptor for that would be useless.
TEST(OsFile, IsOpenedForTheSecondTimeWhenThatIsAskedFor) {
  const ScratchDirectory directory;
  const size_t before = open_descriptors();
  Result<OsFile> file = OsFile::open(directory / "file", OsFile::Mode::create, true);
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(open_descriptors(), before + 1);
  // By then another file may have its name.
  ASSERT_EQ(::rename((directory / "file").c_str(), (directory / "other").c_str()), 0);
  std::ofstream(directory / "file") << "x";
  const int direct = file.value().direct();
  if (direct < 0) GTEST_SKIP() << "this file system has no O_DIRECT";
  EXPECT_EQ(open_descriptors(), before + 2);
  struct stat one {};
  struct stat same {};
  ASSERT_EQ(::fstat(file.value().buffered(), &one), 0);
  ASSERT_EQ(::fstat(direct, &same), 0);
  EXPECT_EQ(one.st_ino, same.st_ino);
  EXPECT_EQ(file.value().direct(), direct);
  OsFile moved = std::move(file).value();
  EXPECT_EQ(moved.direct(), direct);
  EXPECT_EQ(open_descriptors(), before + 2);
}

TEST(OsFile, DirectoriesAndFilesAreNotMistaken) {
  const ScratchDirectory directory;
  EXPECT_TRUE(OsFile::open(directory.path(), OsFile::Mode::directory, true).ok());
  EXPECT_EQ(OsFile::open(directory.path(), OsFile::Mode::create, false).status().fault().system_errno, EISDIR);
  std::ofstream(directory / "file") << "x";
  EXPECT_EQ(OsFile::open(directory / "file", OsFile::Mode::directory, false).status().fault().system_errno, ENOTDIR);
}

TEST(OsFile, AllocateMakesTheFileLonger) {
  const ScratchDirectory directory;
  const std::string path = directory / "file";
  Result<OsFile> file = OsFile::open(path, OsFile::Mode::create, false);
  ASSERT_TRUE(file.ok());
  EXPECT_TRUE(file.value().allocate(8192, 4096).ok());
  EXPECT_TRUE(fs::file_size(path) == 12288 || fs::file_size(path) == 0) << "all, or nothing where it cannot be done";
  OsFile moved = std::move(file).value();
  EXPECT_TRUE(moved.allocate(0, 100).ok());
}

TEST(OsFile, RenameAndRemoveNameWhatFailed) {
  const ScratchDirectory directory;
  std::ofstream(directory / "two") << "2";
  Result<OsFile> one = OsFile::open(directory / "one", OsFile::Mode::fresh, false);
  ASSERT_TRUE(one.ok()) << one.status().fault().message;
  EXPECT_EQ(one.value().rename(directory / "two", false).fault().system_errno, EEXIST);
  EXPECT_TRUE(one.value().rename(directory / "two", true).ok());
  EXPECT_EQ(bytes_of_file(directory / "two"), std::vector<std::byte>{});
  EXPECT_TRUE(remove_file(directory / "two").ok());
  const Status renamed = one.value().rename(directory / "other", true);
  EXPECT_EQ(renamed.fault().operation, "rename");
  EXPECT_EQ(renamed.fault().file, directory / "two");
  EXPECT_EQ(renamed.fault().system_errno, ENOENT);
  EXPECT_EQ(remove_file(directory / "none").fault().system_errno, ENOENT);
}

}  // namespace
}  // namespace tailrace::impl
