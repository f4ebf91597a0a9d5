// Files under tailrace's own names, in a directory where another user puts links, FIFOs and files.
#include "base/os/own_file.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <iterator>
#include <thread>

#include "base/os/lock_file.hpp"
#include "base/os/process.hpp"
#include "testing/scratch.hpp"

namespace tailrace::impl {
namespace {

constexpr uid_t kStranger = 65534;

mode_t process_umask() {
  const mode_t mask = ::umask(0);
  ::umask(mask);
  return mask;
}

class OwnFile : public ::testing::Test {
 protected:
  void SetUp() override { std::ofstream(directory_ / "victim") << "precious"; }
  // Whatever happens under tailrace's names, no other file is written.
  void TearDown() override { EXPECT_EQ(text("victim"), "precious"); }

  std::string text(const std::string& name) {
    std::ifstream file(directory_ / name);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void expect_refused(const std::string& name, int error, const std::string& what) {
    const std::string path = directory_ / name;
    for (const Status& status : {make_own_file(path, 0666).status(), open_own_file(path, O_RDWR).status(),
                                 open_own_file(path, O_WRONLY | O_CREAT | O_APPEND, 0600).status(),
                                 LockFile::acquire(path, "somebody").status()}) {
      EXPECT_EQ(status.fault().system_errno, error) << status.fault().message;
      EXPECT_NE(status.fault().message.find("is " + what), std::string::npos) << status.fault().message;
    }
    EXPECT_FALSE(is_own_file(path));
    EXPECT_FALSE(LockFile::is_held(path));
    const auto spawned = spawn({"/bin/true", {}, path, -1, true});
    EXPECT_EQ(spawned.status().fault().system_errno, error);
  }

  ScratchDirectory directory_;
};

TEST_F(OwnFile, ALinkIsRefusedWhereverItLeads) {
  ASSERT_EQ(::symlink((directory_ / "victim").c_str(), (directory_ / "link").c_str()), 0);
  ASSERT_EQ(::symlink((directory_ / "none").c_str(), (directory_ / "dangling").c_str()), 0);
  ASSERT_EQ(::symlink("/dev/null", (directory_ / "device").c_str()), 0);
  for (const char* name : {"link", "dangling", "device"}) {
    expect_refused(name, ELOOP, "a symbolic link of user " + std::to_string(geteuid()));
  }
  EXPECT_FALSE(std::filesystem::exists(directory_ / "none"));
}

TEST_F(OwnFile, WhatIsNoRegularFileIsRefusedAndNotWaitedFor) {
  ASSERT_EQ(::mkfifo((directory_ / "fifo").c_str(), 0666), 0);
  expect_refused("fifo", EEXIST, "no regular file");
  ASSERT_EQ(::mkdir((directory_ / "folder").c_str(), 0777), 0);
  expect_refused("folder", EEXIST, "a directory");
}

TEST_F(OwnFile, AStrangersFileIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make files of another user";
  std::ofstream(directory_ / "theirs") << "theirs";
  ASSERT_EQ(::chown((directory_ / "theirs").c_str(), kStranger, kStranger), 0);
  expect_refused("theirs", EPERM, "a file of user 65534");
  EXPECT_EQ(text("theirs"), "theirs");
}

TEST_F(OwnFile, AStrangersFileInAStickyDirectoryIsRefused) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can make files of another user";
  ASSERT_EQ(::chmod(directory_.path().c_str(), 01777), 0);
  std::ofstream(directory_ / "theirs") << "theirs";
  ASSERT_EQ(::chmod((directory_ / "theirs").c_str(), 0666), 0);
  ASSERT_EQ(::chown((directory_ / "theirs").c_str(), kStranger, kStranger), 0);
  expect_refused("theirs", EPERM, "a file of user 65534");
}

TEST_F(OwnFile, AFileWithAnotherNameIsMadeAnewAndNeverWrittenInto) {
  ASSERT_EQ(::link((directory_ / "victim").c_str(), (directory_ / "second").c_str()), 0);
  EXPECT_EQ(open_own_file(directory_ / "second", O_RDWR).status().fault().system_errno, EMLINK);
  EXPECT_EQ(LockFile::acquire(directory_ / "second", "somebody").status().fault().system_errno, EMLINK);
  const Result<FileDescriptor> made = make_own_file(directory_ / "second", 0666);
  ASSERT_TRUE(made.ok()) << made.status().fault().message;
  EXPECT_EQ(::write(made.value().get(), "new", 3), 3);
  EXPECT_EQ(text("second"), "new");
}

TEST_F(OwnFile, ADirectoryMayBeReachedByALink) {
  const std::string behind = directory_ / "behind";
  ASSERT_EQ(::symlink(directory_.path().c_str(), behind.c_str()), 0);
  EXPECT_TRUE(make_own_file(behind + "/file", 0666).ok());
  EXPECT_TRUE(open_own_file(behind + "/file", O_RDWR).ok());
  EXPECT_TRUE(is_own_file(directory_ / "file"));
}

TEST_F(OwnFile, WhatIsOpenedWaitsAsOtherFilesDo) {
  const Result<FileDescriptor> file = open_own_file(directory_ / "log", O_WRONLY | O_CREAT | O_APPEND, 0600);
  ASSERT_TRUE(file.ok());
  const int flags = ::fcntl(file.value().get(), F_GETFL);
  EXPECT_EQ(flags & (O_NONBLOCK | O_APPEND | O_ACCMODE), O_APPEND | O_WRONLY);
}

TEST_F(OwnFile, ARenameIsOfTheFileThatIsOpen) {
  const Result<FileDescriptor> file = make_own_file(directory_ / "a.part", 0666);
  std::filesystem::rename(directory_ / "a.part", directory_ / "away");
  ASSERT_EQ(::symlink((directory_ / "victim").c_str(), (directory_ / "a.part").c_str()), 0);
  const Status status = rename_open_file(file.value().get(), directory_ / "a.part", directory_ / "a", false);
  EXPECT_EQ(status.fault().system_errno, ESTALE);
  EXPECT_NE(status.fault().message.find("is a symbolic link of user"), std::string::npos) << status.fault().message;
  EXPECT_FALSE(std::filesystem::exists(directory_ / "a"));
}

// Runs `work` where renameat2 with flags fails with EINVAL, as on file systems that cannot refuse to replace, and,
// without `links`, linkat with EPERM.
template <class Work>
void on_file_system(bool links, Work work) {
  std::thread([links, &work] {
    const auto number = [](unsigned call) -> sock_filter { return BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1); };
    const auto fail = [](unsigned error) -> sock_filter {
      return BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error);
    };
    sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 3),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, args[4])),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, RENAME_NOREPLACE, 0, 3),
        fail(EINVAL),
        number(links ? UINT32_MAX : SYS_linkat),
        fail(EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    const sock_fprog program{std::size(filter), filter};
    ASSERT_EQ(::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    ASSERT_EQ(::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
    work();
  }).join();
}

TEST_F(OwnFile, AFileIsPublishedAndReplacesNoneOnEveryFileSystem) {
  for (const bool links : {true, false}) {
    on_file_system(links, [this] {
      const Result<FileDescriptor> file = make_own_file(directory_ / "a.part", 0644);
      ASSERT_EQ(::write(file.value().get(), "whole", 5), 5);
      ASSERT_EQ(rename_open_file(file.value().get(), directory_ / "a.part", directory_ / "victim", false)
                    .fault()
                    .system_errno,
                EEXIST);
      EXPECT_EQ(text("a.part"), "whole");
      ASSERT_TRUE(rename_open_file(file.value().get(), directory_ / "a.part", directory_ / "a", false).ok());
      EXPECT_EQ(text("a"), "whole");
      EXPECT_FALSE(std::filesystem::exists(directory_ / "a.part"));
      struct stat info {};
      ASSERT_EQ(::stat((directory_ / "a").c_str(), &info), 0);
      EXPECT_EQ(info.st_nlink, 1u);
      EXPECT_EQ(info.st_mode & 0777, mode_t{0644} & ~process_umask());
      std::filesystem::remove(directory_ / "a");
    });
  }
}

// Publishes a file where `on_file_system` is, and dies at the system call. Returns false if it was never made.
bool dies_at(long call, bool links, const std::string& from, const std::string& to) {
  const pid_t child = ::fork();
  if (child == 0) {
    on_file_system(links, [&] {
      sock_filter filter[] = {
          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<unsigned>(call), 0, 1),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      };
      const sock_fprog program{std::size(filter), filter};
      const Result<FileDescriptor> file = open_own_file(from, O_RDWR);
      if (!file.ok() || ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) ::_exit(1);
      (void)rename_open_file(file.value().get(), from, to, false);
    });
    ::_exit(0);
  }
  int status = 0;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return WIFSIGNALED(status);
}

// A process that publishes dies at each step; the next one finds what it left.
TEST_F(OwnFile, ADeathInTheMiddleOfAPublicationLeavesNothingInTheWay) {
  int deaths = 0;
  for (const bool links : {true, false}) {
    for (const long call : {long{SYS_renameat2}, long{SYS_linkat}, long{SYS_rename}, long{SYS_unlink}}) {
      std::filesystem::remove(directory_ / "a");
      std::ofstream(directory_ / "a.part") << "whole";
      if (!dies_at(call, links, directory_ / "a.part", directory_ / "a")) continue;
      ++deaths;
      if (!same_file(directory_ / "a", directory_ / "a.part")) {
        const Result<FileDescriptor> part = open_own_file(directory_ / "a.part", O_RDWR);
        ASSERT_TRUE(part.ok());
        on_file_system(links, [&] {
          EXPECT_TRUE(rename_open_file(part.value().get(), directory_ / "a.part", directory_ / "a", false).ok());
        });
      }
      EXPECT_EQ(text("a"), "whole") << call;
    }
  }
  EXPECT_GE(deaths, 4);
}

// NFS may answer a link that was sent again, and had been made the first time, with EEXIST.
TEST_F(OwnFile, ALinkThatIsThereAlreadyIsTheFilesOwn) {
  const Result<FileDescriptor> file = make_own_file(directory_ / "a.part", 0644);
  std::filesystem::create_hard_link(directory_ / "a.part", directory_ / "a");
  on_file_system(true, [&] {
    EXPECT_TRUE(rename_open_file(file.value().get(), directory_ / "a.part", directory_ / "a", false).ok());
  });
  EXPECT_FALSE(std::filesystem::exists(directory_ / "a.part"));
  EXPECT_TRUE(std::filesystem::exists(directory_ / "a"));
}

// The least descriptor that is free is the first one beyond the limit.
TEST_F(OwnFile, IsPublishedWithoutAnyDescriptorLeft) {
  const Result<FileDescriptor> file = make_own_file(directory_ / "a.part", 0644);
  ASSERT_EQ(::write(file.value().get(), "done", 4), 4);
  rlimit before{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
  const int free = ::dup(file.value().get());
  ASSERT_EQ(::close(free), 0);
  const rlimit none{static_cast<rlim_t>(free), before.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const Status refused = make_own_file(directory_ / "b.part", 0644).status();
  const Status renamed = rename_open_file(file.value().get(), directory_ / "a.part", directory_ / "a", false);
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &before), 0);
  EXPECT_TRUE(renamed.ok()) << renamed.fault().message;
  EXPECT_EQ(text("a"), "done");
  EXPECT_EQ(refused.fault().operation, "create");
  EXPECT_EQ(refused.fault().system_errno, EMFILE);
}

}  // namespace
}  // namespace tailrace::impl
