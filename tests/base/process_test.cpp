// Processes that are watched, started and ended, and what they inherit from the process that starts them.
#include "base/os/process.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <iterator>
#include <thread>

#include "base/os/unix_socket.hpp"
#include "testing/scratch.hpp"

namespace tailrace::impl {
namespace {

using namespace std::chrono_literals;

constexpr auto kLong = 60s;  // never reached, unless something is broken

std::string text_of_file(const std::string& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

// Listing the directory would open a descriptor of its own.
const std::string kListDescriptors = "for i in $(seq 0 100); do [ -e /proc/$$/fd/$i ] && echo $i; done; ";

class ProcessTest : public ::testing::Test {
 protected:
  Result<ProcessHandle> shell(const std::string& script, int inherited = -1) {
    return spawn({"/bin/sh", {"-c", script}, output, inherited});
  }
  // Returns the output of the script.
  std::string said_by(const std::string& script, int inherited = -1) {
    const Result<ProcessHandle> child = shell(script, inherited);
    if (!child.ok()) return child.status().fault().message;
    const Result<HowItEnded> end = reap(child.value(), kLong);
    EXPECT_TRUE(end.ok());
    EXPECT_EQ(end.value(), "exit status 0");
    return text_of_file(output);
  }
  const ScratchDirectory directory;
  const std::string output = directory / "output";
};

TEST_F(ProcessTest, HasABeginUntilItsEnd) {
  EXPECT_GT(process_begin(getpid()), 0u);
  EXPECT_EQ(process_begin(getpid()), process_begin(getpid()));
  EXPECT_GT(process_age(getpid()), 0);
  const Result<ProcessHandle> child = shell("true");
  ASSERT_TRUE(child.ok());
  ASSERT_TRUE(child.value().wait_end(kLong));
  // Its number is still taken, as nobody has reaped it.
  EXPECT_EQ(process_begin(child.value().pid()), 0u);
  ASSERT_TRUE(reap(child.value(), kLong).ok());
  EXPECT_EQ(process_begin(child.value().pid()), 0u);
  EXPECT_EQ(process_age(child.value().pid()), 0);
}

// The name is in the middle of the line that has the beginning.
TEST_F(ProcessTest, HasABeginWhateverItsName) {
  char before[16] = {};
  ASSERT_EQ(prctl(PR_GET_NAME, before), 0);
  const uint64_t begin = process_begin(getpid());
  for (const char* const name : {"a\nb", "c) Z 1", "\n\n", ""}) {
    ASSERT_EQ(prctl(PR_SET_NAME, name), 0);
    EXPECT_EQ(process_begin(getpid()), begin) << name;
  }
  ASSERT_EQ(prctl(PR_SET_NAME, before), 0);
}

void watch_a_process_until_its_end() {
  int leave[2];
  ASSERT_EQ(pipe2(leave, O_CLOEXEC), 0);
  const pid_t pid = fork();
  if (pid == 0) {
    close(leave[1]);
    char byte = 0;
    _exit(read(leave[0], &byte, 1) == 0 ? 3 : 1);
  }
  const Result<ProcessHandle> child = ProcessHandle::open(pid);
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(child.value().pid(), pid);
  EXPECT_TRUE(child.value().alive());
  EXPECT_EQ(reap(child.value(), 1ms).status().code(), TAILRACE_TIMEOUT);
  close(leave[0]);
  close(leave[1]);
  EXPECT_TRUE(child.value().wait_end(kLong));
  EXPECT_FALSE(child.value().alive());
  const Result<HowItEnded> end = reap(child.value(), kLong);
  ASSERT_TRUE(end.ok());
  EXPECT_EQ(end.value(), "exit status 3");
  EXPECT_EQ(reap(child.value(), kLong).value(), std::nullopt) << "somebody has taken it already";
  EXPECT_EQ(ProcessHandle::open(pid).status().fault().system_errno, ESRCH);
}

TEST_F(ProcessTest, WatchesAProcessUntilItsEnd) { watch_a_process_until_its_end(); }

// As before Linux 5.3, and in containers whose filter does not know the call.
TEST_F(ProcessTest, WatchesAProcessWhereThereAreNoPidfds) {
  for (const unsigned error : {unsigned{ENOSYS}, unsigned{EPERM}}) {
    std::thread([error] {
      sock_filter calls[] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
                             BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pidfd_open, 0, 1),
                             BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
                             BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)};
      const sock_fprog filter{std::size(calls), calls};
      ASSERT_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
      ASSERT_EQ(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter), 0);
      watch_a_process_until_its_end();
    }).join();
  }
}

TEST_F(ProcessTest, OutputGoesToTheEndOfTheFile) {
  EXPECT_EQ(said_by("echo one; echo two >&2"), "one\ntwo\n");
  EXPECT_EQ(said_by("echo \"$0 $1\""), "one\ntwo\n/bin/sh \n");
}

TEST_F(ProcessTest, GetsNoDescriptorsButThoseNamed) {
  const FileDescriptor leaked(open("/dev/null", O_RDONLY));  // not closed on exec
  EXPECT_EQ(said_by(kListDescriptors + "readlink /proc/$$/fd/0"), "0\n1\n2\n/dev/null\n");
}

TEST_F(ProcessTest, GetsTheOneDescriptorWhateverItsNumberIsHere) {
  Result<std::pair<UnixSocket, UnixSocket>> ends = UnixSocket::pair();
  ASSERT_TRUE(ends.ok());
  EXPECT_EQ(said_by(kListDescriptors + "readlink /proc/$$/fd/3 | cut -c1-7", ends.value().first.fd()),
            "0\n1\n2\n3\nsocket:\n");
}

TEST_F(ProcessTest, ADescriptorThatIsClosedIsAnError) {
  const Result<ProcessHandle> child = shell("true", 1'000'000);
  ASSERT_FALSE(child.ok());
  EXPECT_EQ(child.status().fault().system_errno, EBADF);
}

TEST_F(ProcessTest, HasASessionOfItsOwnAndSignalsAsByDefault) {
  sigset_t blocked;
  sigset_t before;
  sigemptyset(&blocked);
  sigaddset(&blocked, SIGUSR1);
  ASSERT_EQ(pthread_sigmask(SIG_BLOCK, &blocked, &before), 0);
  const auto old = signal(SIGUSR2, SIG_IGN);
  const std::string said =
      said_by("echo $(cut -d' ' -f6 /proc/$$/stat) $$; grep -E '^Sig(Blk|Ign)' /proc/$$/status | tr -d '\\t'");
  signal(SIGUSR2, old);
  ASSERT_EQ(pthread_sigmask(SIG_SETMASK, &before, nullptr), 0);
  long session = 0;
  long pid = 0;
  unsigned long is_blocked = 0;
  unsigned long is_ignored = 0;
  ASSERT_EQ(sscanf(said.c_str(), "%ld %ld SigBlk:%lx SigIgn:%lx", &session, &pid, &is_blocked, &is_ignored), 4)
      << said;
  EXPECT_EQ(session, pid);
  EXPECT_NE(session, getsid(0));
  EXPECT_EQ(is_blocked, 0u);
  EXPECT_EQ(is_ignored & 0x7fffffff, 0u) << "32 and 33 are the C library's own";
}

TEST_F(ProcessTest, WhatCannotBeStartedIsNamed) {
  const Status missing = spawn({directory / "none", {}, {}, -1}).status();
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.fault().system_errno, ENOENT);
  EXPECT_EQ(missing.fault().file, directory / "none");
  const Status no_output = spawn({"/bin/true", {}, directory / "none/output", -1}).status();
  ASSERT_FALSE(no_output.ok());
  EXPECT_EQ(no_output.fault().file, directory / "none/output");
}

TEST_F(ProcessTest, ASessionIsKilledWithAllThatItStarted) {
  Result<std::pair<UnixSocket, UnixSocket>> ends = UnixSocket::pair();
  ASSERT_TRUE(ends.ok());
  const Result<ProcessHandle> child = shell("sleep 1000 & sleep 1000", ends.value().first.fd());
  ASSERT_TRUE(child.ok());
  { const UnixSocket ours = std::move(ends.value().first); }
  kill_session(child.value());
  std::array<std::byte, 1> byte;
  EXPECT_EQ(ends.value().second.receive(byte, 0, kLong).status().fault().system_errno, ECONNRESET)
      << "the last of them has gone";
  EXPECT_EQ(reap(child.value(), kLong).value(), "signal 9");
}

TEST_F(ProcessTest, AnApplicationThatForgetsItsChildren) {
  const auto old = signal(SIGCHLD, SIG_IGN);
  for (int i = 0; i < 20; ++i) {
    const Result<ProcessHandle> child = shell("true");
    ASSERT_TRUE(child.ok());
    const Result<HowItEnded> end = reap(child.value(), kLong);
    ASSERT_TRUE(end.ok());
    EXPECT_EQ(end.value(), std::nullopt);
  }
  signal(SIGCHLD, old);
}

TEST_F(ProcessTest, WhoDetachesHimselfIsNobodysChild) {
  Result<std::pair<UnixSocket, UnixSocket>> ends = UnixSocket::pair();
  ASSERT_TRUE(ends.ok());
  UnixSocket ours = std::move(ends.value().first);
  const pid_t pid = fork();
  if (pid == 0) {
    UnixSocket theirs = std::move(ends.value().second);
    { const UnixSocket closed = std::move(ours); }
    if (!detach().ok()) _exit(1);
    const pid_t self = getpid();
    (void)theirs.send(std::as_bytes(std::span(&self, 1)), {}, kLong);
    std::array<std::byte, 1> byte;
    (void)theirs.receive(byte, 0, kLong);
    _exit(0);
  }
  const Result<ProcessHandle> child = ProcessHandle::open(pid);
  ASSERT_TRUE(child.ok());
  EXPECT_EQ(reap(child.value(), kLong).value(), "exit status 0");
  pid_t other = 0;
  ASSERT_TRUE(ours.receive(std::as_writable_bytes(std::span(&other, 1)), 0, kLong).ok());
  EXPECT_NE(other, pid);
  const Result<ProcessHandle> detached = ProcessHandle::open(other);
  ASSERT_TRUE(detached.ok());
  EXPECT_TRUE(detached.value().alive());
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "no child is left";
  { const UnixSocket closed = std::move(ours); }
  { const UnixSocket closed = std::move(ends.value().second); }
  EXPECT_TRUE(detached.value().wait_end(kLong));
}

}  // namespace
}  // namespace tailrace::impl
