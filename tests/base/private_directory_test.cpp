// PrivateDirectory, FileMutex: files that only this user's processes share.
#include "base/os/private_directory.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "base/os/file_mutex.hpp"
#include "base/os/lock_file.hpp"
#include "testing/scratch.hpp"

namespace tailrace::impl {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;
using Missing = PrivateDirectory::Missing;

constexpr auto kLong = 60s;  // never reached, unless something is broken

std::string refusal(const std::string& path, Missing missing = Missing::create) {
  const Result<PrivateDirectory> directory = PrivateDirectory::open(path, missing);
  return directory.ok() ? "" : directory.status().fault().message;
}

TEST(PrivateDirectory, IsMadeForThisUserAlone) {
  const ScratchDirectory scratch;
  const std::string path = scratch / "new";
  EXPECT_NE(refusal(path, Missing::refuse), "");
  {
    const Result<PrivateDirectory> directory = PrivateDirectory::open(path, Missing::create);
    ASSERT_TRUE(directory.ok());
    EXPECT_EQ(directory.value().path(), path);
    struct stat info {};
    ASSERT_EQ(stat(path.c_str(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0700u);
  }
  EXPECT_EQ(refusal(path), "");
  EXPECT_EQ(refusal(path, Missing::refuse), "");
  EXPECT_NE(refusal(scratch / "no/such"), "") << "only the last component is made";
}

TEST(PrivateDirectory, RefusesWhatOthersMayEnter) {
  const ScratchDirectory scratch;
  const std::string path = scratch / "wide";
  ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
  for (const mode_t mode : {0755u, 0710u, 0701u, 0770u}) {
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    const std::string message = refusal(path);
    EXPECT_NE(message.find("expected a directory of user " + std::to_string(geteuid()) + " with mode 0700"),
              std::string::npos)
        << message;
    EXPECT_NE(message.find("mode 0" + std::to_string(mode / 64) + std::to_string(mode / 8 % 8)), std::string::npos);
  }
}

TEST(PrivateDirectory, RefusesLinksAndFiles) {
  const ScratchDirectory scratch;
  ASSERT_EQ(mkdir((scratch / "real").c_str(), 0700), 0);
  fs::create_symlink(scratch / "real", scratch / "link");
  std::ofstream(scratch / "file") << "x";
  EXPECT_NE(refusal(scratch / "link").find("is a symbolic link"), std::string::npos);
  EXPECT_NE(refusal(scratch / "file").find("is a file"), std::string::npos);
}

TEST(PrivateDirectory, RefusesADirectoryOfAnotherUser) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make a directory of another user";
  const ScratchDirectory scratch;
  ASSERT_EQ(mkdir((scratch / "his").c_str(), 0700), 0);
  ASSERT_EQ(chown((scratch / "his").c_str(), 65534, 65534), 0);
  EXPECT_NE(refusal(scratch / "his").find("a directory of user 65534; expected a directory of user 0"),
            std::string::npos);
  // And the other user does not get in here.
  const pid_t child = fork();
  if (child == 0) {
    const bool changed = seteuid(65534) == 0;
    const Result<PrivateDirectory> directory = PrivateDirectory::open(scratch.path(), Missing::refuse);
    _exit(changed && !directory.ok() && directory.status().fault().system_errno == EACCES ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST(PrivateDirectory, FilesInIt) {
  const ScratchDirectory scratch;
  const Result<PrivateDirectory> opened = PrivateDirectory::open(scratch.path(), Missing::refuse);
  ASSERT_TRUE(opened.ok());
  const PrivateDirectory& directory = opened.value();
  {
    const Result<FileDescriptor> file = directory.open_file("b", O_RDWR | O_CREAT | O_EXCL);
    ASSERT_TRUE(file.ok());
    struct stat info {};
    ASSERT_EQ(fstat(file.value().get(), &info), 0);
    EXPECT_EQ(info.st_mode & 07777, 0600u);
    EXPECT_EQ(fcntl(file.value().get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  }
  EXPECT_EQ(directory.open_file("none", O_RDONLY).status().fault().system_errno, ENOENT);
  fs::create_symlink(scratch / "b", scratch / "a");
  EXPECT_EQ(directory.open_file("a", O_RDONLY).status().fault().system_errno, ELOOP);
  EXPECT_EQ(directory.names().value(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(directory.names().value().size(), 2u) << "as often as one likes";
  EXPECT_TRUE(directory.remove_file("a").ok());
  EXPECT_TRUE(directory.remove_file("a").ok());
  EXPECT_EQ(directory.names().value(), std::vector<std::string>{"b"});
  EXPECT_GT(directory.free_bytes().value(), 0u);
}

TEST(PrivateDirectory, DirectoriesInIt) {
  const ScratchDirectory scratch;
  const Result<PrivateDirectory> parent = PrivateDirectory::open(scratch.path(), Missing::refuse);
  ASSERT_TRUE(parent.ok());
  EXPECT_FALSE(parent.value().open_directory("job", Missing::refuse).ok());
  const Result<PrivateDirectory> job = parent.value().open_directory("job", Missing::create);
  ASSERT_TRUE(job.ok());
  EXPECT_EQ(job.value().path(), scratch / "job");
  EXPECT_TRUE(job.value().still_there());
  ASSERT_TRUE(job.value().open_file("file", O_RDWR | O_CREAT).ok());
  EXPECT_FALSE(parent.value().remove_directory("job").value()) << "it is not empty";
  ASSERT_TRUE(job.value().remove_file("file").ok());
  EXPECT_TRUE(parent.value().remove_directory("job").value());
  EXPECT_FALSE(job.value().still_there());
  EXPECT_EQ(job.value().open_file("file", O_RDWR | O_CREAT).status().fault().system_errno, ENOENT);
  ASSERT_TRUE(parent.value().open_directory("job", Missing::create).ok());
  EXPECT_FALSE(job.value().still_there()) << "another one of the same name";
}

// A server that leaves removes the directory while clients come: what they cannot create there they create again
// elsewhere, if they notice. (Some file systems refuse new files shortly before the path is gone.) A server that ends
// removes its directory while the next one, or a client, creates it.
TEST(PrivateDirectory, IsMadeThoughOthersRemoveIt) {
  const ScratchDirectory scratch;
  const std::string path = scratch / "private";
  std::atomic<bool> over{false};
  std::thread remover([&] {
    while (!over) ::rmdir(path.c_str());
  });
  for (int i = 0; i < 20'000; ++i) {
    const auto made = PrivateDirectory::open(path, PrivateDirectory::Missing::create);
    if (!made.ok()) ADD_FAILURE() << made.status().fault().message;
    if (!made.ok()) break;
  }
  over = true;
  remover.join();
}

TEST(PrivateDirectory, WhereNothingCanBeMadeItIsNotThere) {
  const ScratchDirectory scratch;
  const Result<PrivateDirectory> parent = PrivateDirectory::open(scratch.path(), Missing::refuse);
  ASSERT_TRUE(parent.ok());
  for (int round = 0; round < 300; ++round) {
    const Result<PrivateDirectory> job = parent.value().open_directory("job", Missing::create);
    ASSERT_TRUE(job.ok());
    std::atomic<bool> is_going = false;
    std::atomic<bool> is_gone = false;
    std::thread remover([&] {
      is_going.store(true);
      (void)parent.value().remove_directory("job");
      is_gone.store(true);
    });
    while (!is_going.load()) std::this_thread::yield();
    while (!is_gone.load()) {
      if (job.value().open_file(".", O_RDWR | O_TMPFILE).ok()) continue;
      EXPECT_FALSE(job.value().still_there()) << "round " << round;
      break;
    }
    remover.join();
    if (HasFailure()) break;
  }
}

class FileMutexTest : public ::testing::Test {
 protected:
  const ScratchDirectory scratch;
  const Result<PrivateDirectory> opened = PrivateDirectory::open(scratch.path(), Missing::refuse);
  const PrivateDirectory& directory = opened.value();
};

TEST_F(FileMutexTest, ExcludesAndWaitsWithALimit) {
  EXPECT_EQ(FileMutex::open_existing(directory, "lock").status().fault().system_errno, ENOENT);
  Result<FileMutex> one = FileMutex::open(directory, "lock");
  Result<FileMutex> two = FileMutex::open(directory, "lock");
  ASSERT_TRUE(one.ok()) << one.status().fault().message;
  ASSERT_TRUE(two.ok());
  {
    const Result<FileMutex::Held> held = one.value().lock(kLong);
    ASSERT_TRUE(held.ok());
    const Status refused = two.value().lock(1ms).status();
    ASSERT_FALSE(refused.ok());
    EXPECT_EQ(refused.code(), TAILRACE_TIMEOUT);
    EXPECT_NE(refused.fault().message.find(scratch / "lock"), std::string::npos);
  }
  EXPECT_TRUE(two.value().lock(0s).ok());
  EXPECT_EQ(directory.names().value(), std::vector<std::string>{"lock"});
}

TEST_F(FileMutexTest, PassesFromOneToTheNext) {
  constexpr int kThreads = 4;
  constexpr int kTimes = 200;
  std::atomic<int> inside{0};
  std::atomic<int> counted{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&] {
      Result<FileMutex> mutex = FileMutex::open(directory, "lock");
      ASSERT_TRUE(mutex.ok());
      for (int j = 0; j < kTimes; ++j) {
        const Result<FileMutex::Held> held = mutex.value().lock(kLong);
        ASSERT_TRUE(held.ok());
        EXPECT_EQ(inside.exchange(1), 0);
        ++counted;
        inside = 0;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(counted, kThreads * kTimes);
}

TEST_F(FileMutexTest, ADeadHolderPassesItOn) {
  Result<FileMutex> mutex = FileMutex::open(directory, "lock");
  ASSERT_TRUE(mutex.ok());
  for (int i = 0; i < 3; ++i) {
    int taken[2];
    ASSERT_EQ(pipe(taken), 0);
    const pid_t child = fork();
    if (child == 0) {
      Result<FileMutex> own = FileMutex::open(directory, "lock");
      Result<FileMutex::Held> held = own.value().lock(kLong);
      if (!held.ok() || write(taken[1], "x", 1) != 1) _exit(1);
      pause();
    }
    char byte = 0;
    ASSERT_EQ(read(taken[0], &byte, 1), 1);
    EXPECT_EQ(mutex.value().lock(0s).status().code(), TAILRACE_TIMEOUT);
    std::thread killer([child] { kill(child, SIGKILL); });
    EXPECT_TRUE(mutex.value().lock(kLong).ok());
    killer.join();
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    close(taken[0]);
    close(taken[1]);
  }
}

// A process loses its mutexes before its files are closed. A successor found its locks still held.
TEST_F(FileMutexTest, WhatADeadHolderHadLockedIsFree) {
  constexpr int kFiles = 2000;  // they take some time to close
  for (int i = 0; i < 5; ++i) {
    int taken[2];
    ASSERT_EQ(pipe(taken), 0);
    const pid_t child = fork();
    if (child == 0) {
      for (int file = 0; file < kFiles && dup(taken[0]) >= 0; ++file) {
      }
      Result<FileMutex> own = FileMutex::open(directory, "lock");
      const Result<FileMutex::Held> held = own.value().lock(kLong);
      const Result<LockFile> files = LockFile::acquire(scratch / "files");
      if (!held.ok() || !files.ok() || write(taken[1], "x", 1) != 1) _exit(1);
      pause();
    }
    char byte = 0;
    ASSERT_EQ(read(taken[0], &byte, 1), 1);
    Result<FileMutex> mutex = FileMutex::open(directory, "lock");
    kill(child, SIGKILL);
    EXPECT_TRUE(mutex.value().lock(kLong).ok());
    const Status locked = LockFile::acquire(scratch / "files").status();
    EXPECT_TRUE(locked.ok()) << locked.fault().message;
    ASSERT_EQ(waitpid(child, nullptr, 0), child);
    close(taken[0]);
    close(taken[1]);
  }
}

TEST_F(FileMutexTest, WhoHasARemovedOneKnows) {
  Result<FileMutex> old = FileMutex::open(directory, "lock");
  ASSERT_TRUE(old.ok());
  EXPECT_FALSE(old.value().is_removed());
  old.value().remove();
  EXPECT_TRUE(old.value().is_removed());
  Result<FileMutex> young = FileMutex::open(directory, "lock");
  ASSERT_TRUE(young.ok());
  old.value().remove();
  EXPECT_FALSE(young.value().is_removed()) << "only its own file";
}

TEST_F(FileMutexTest, RefusesAFileOfAnotherKind) {
  std::ofstream(scratch / "empty");
  std::ofstream(scratch / "other") << std::string(128, 'x');
  fs::create_symlink(scratch / "lock", scratch / "link");
  for (const char* name : {"empty", "other"}) {
    const Result<FileMutex> mutex = FileMutex::open(directory, name);
    ASSERT_FALSE(mutex.ok());
    EXPECT_NE(mutex.status().fault().message.find("not a lock of this version"), std::string::npos);
  }
  EXPECT_EQ(FileMutex::open(directory, "link").status().fault().system_errno, ELOOP);
}

}  // namespace
}  // namespace tailrace::impl
