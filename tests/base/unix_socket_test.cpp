// UnixSocket and UnixListener between two ends, one of which may be hostile.
#include "base/os/unix_socket.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <thread>

#include "testing/scratch.hpp"

namespace tailrace::impl {
namespace {

using namespace std::chrono_literals;
using Missing = PrivateDirectory::Missing;

constexpr auto kLong = 60s;  // never reached, unless something is broken
constexpr auto kNone = 0s;

std::span<const std::byte> bytes_of(std::string_view text) { return std::as_bytes(std::span(text)); }

std::string text_of(const std::array<std::byte, 64>& bytes, const Message& message) {
  return {reinterpret_cast<const char*>(bytes.data()), message.bytes};
}

size_t open_descriptors() {
  namespace fs = std::filesystem;
  return static_cast<size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

class UnixSocketPair : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<std::pair<UnixSocket, UnixSocket>> ends = UnixSocket::pair();
    ASSERT_TRUE(ends.ok());
    a.emplace(std::move(ends.value().first));
    b.emplace(std::move(ends.value().second));
  }
  std::optional<UnixSocket> a;
  std::optional<UnixSocket> b;
  std::array<std::byte, 64> into{};
};

TEST_F(UnixSocketPair, MessagesStayWholeAndInOrder) {
  ASSERT_TRUE(a->send(bytes_of("one"), {}, kNone).ok());
  ASSERT_TRUE(a->send(bytes_of("and two"), {}, kNone).ok());
  Result<Message> message = b->receive(into, 0, kNone);
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(text_of(into, message.value()), "one");
  message = b->receive(into, 0, kNone);
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(text_of(into, message.value()), "and two");
}

TEST_F(UnixSocketPair, DescriptorsArriveAndAreClosedOnExec) {
  const ScratchDirectory directory;
  const FileDescriptor file(open((directory / "file").c_str(), O_RDWR | O_CREAT, 0600));
  const FileDescriptor counter(eventfd(0, 0));
  ASSERT_EQ(write(file.get(), "text", 4), 4);
  const std::array<int, 2> sent = {file.get(), counter.get()};
  ASSERT_TRUE(a->send(bytes_of("x"), sent, kNone).ok());
  const Result<Message> message = b->receive(into, 2, kNone);
  ASSERT_TRUE(message.ok());
  ASSERT_EQ(message.value().descriptors.size(), 2u);
  char text[4];
  EXPECT_EQ(pread(message.value().descriptors[0].get(), text, 4, 0), 4);
  EXPECT_EQ(std::string_view(text, 4), "text");
  uint64_t one = 1;
  EXPECT_EQ(write(message.value().descriptors[1].get(), &one, sizeof one), 8);
  EXPECT_EQ(read(counter.get(), &one, sizeof one), 8) << "it is the same counter";
  for (const FileDescriptor& one_of : message.value().descriptors) {
    EXPECT_EQ(fcntl(one_of.get(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  }
}

TEST_F(UnixSocketPair, AMessageThatIsTooLongIsRefusedWithWhatItBrought) {
  const std::string text(65, 'x');
  const std::array<int, 1> sent = {0};
  ASSERT_TRUE(a->send(bytes_of(text), sent, kNone).ok());
  const size_t before = open_descriptors();
  const Result<Message> message = b->receive(into, 1, kNone);
  ASSERT_FALSE(message.ok());
  EXPECT_EQ(message.status().fault().system_errno, EBADMSG);
  EXPECT_NE(message.status().fault().message.find("more than 64 bytes"), std::string::npos)
      << message.status().fault().message;
  EXPECT_NE(message.status().fault().message.find("process " + std::to_string(getpid())), std::string::npos);
  EXPECT_EQ(open_descriptors(), before);
  ASSERT_TRUE(a->send(bytes_of("ok"), {}, kNone).ok());
  EXPECT_TRUE(b->receive(into, 0, kNone).ok()) << "the next one is not hurt";
}

TEST_F(UnixSocketPair, UnexpectedDescriptorsAreRefusedAndClosed) {
  const std::array<int, 3> sent = {0, 1, 2};
  for (const size_t expected : {0u, 1u, 2u}) {
    ASSERT_TRUE(a->send(bytes_of("x"), sent, kNone).ok());
    const size_t before = open_descriptors();
    const Result<Message> message = b->receive(into, expected, kNone);
    ASSERT_FALSE(message.ok());
    EXPECT_EQ(message.status().fault().system_errno, EBADMSG);
    EXPECT_EQ(open_descriptors(), before);
  }
}

TEST_F(UnixSocketPair, MoreDescriptorsThanThereIsRoomForAreRefusedAndClosed) {
  constexpr size_t kMany = 200;
  union {
    cmsghdr header;
    char bytes[CMSG_SPACE(kMany * sizeof(int))];
  } control{};
  char byte = 'x';
  iovec part{&byte, 1};
  msghdr header{};
  header.msg_iov = &part;
  header.msg_iovlen = 1;
  header.msg_control = control.bytes;
  header.msg_controllen = sizeof control.bytes;
  control.header.cmsg_level = SOL_SOCKET;
  control.header.cmsg_type = SCM_RIGHTS;
  control.header.cmsg_len = CMSG_LEN(kMany * sizeof(int));  // all of them standard input
  ASSERT_EQ(sendmsg(a->fd(), &header, 0), 1);
  const size_t before = open_descriptors();
  const Result<Message> message = b->receive(into, UnixSocket::kMaxDescriptors, kNone);
  ASSERT_FALSE(message.ok());
  EXPECT_EQ(message.status().fault().system_errno, EBADMSG);
  EXPECT_EQ(open_descriptors(), before);
}

TEST_F(UnixSocketPair, AnEmptyMessageIsTakenForTheEnd) {
  ASSERT_EQ(::send(a->fd(), "", 0, 0), 0);
  const Result<Message> message = b->receive(into, 0, kNone);
  ASSERT_FALSE(message.ok());
  EXPECT_EQ(message.status().fault().system_errno, ECONNRESET);
}

TEST_F(UnixSocketPair, ThePeersEndIsSeenAfterWhatItSent) {
  EXPECT_FALSE(b->peer_gone());
  ASSERT_TRUE(a->send(bytes_of("last"), {}, kNone).ok());
  a.reset();
  EXPECT_TRUE(b->peer_gone());
  EXPECT_TRUE(b->receive(into, 0, kNone).ok());
  EXPECT_EQ(b->receive(into, 0, kLong).status().fault().system_errno, ECONNRESET);
  const Status sent = b->send(bytes_of("x"), {}, kNone);  // no SIGPIPE either
  ASSERT_FALSE(sent.ok());
  EXPECT_EQ(sent.fault().system_errno, EPIPE);
}

TEST_F(UnixSocketPair, WaitsHaveALimit) {
  Result<Message> message = b->receive(into, 0, 1ms);
  ASSERT_FALSE(message.ok());
  EXPECT_EQ(message.status().code(), TAILRACE_TIMEOUT);
  Status sent;
  for (int i = 0; i < 100'000 && sent.ok(); ++i) sent = a->send(bytes_of("nobody reads this"), {}, kNone);
  EXPECT_EQ(sent.code(), TAILRACE_TIMEOUT);
  EXPECT_EQ(a->send(bytes_of("x"), {}, 1ms).code(), TAILRACE_TIMEOUT);
  ASSERT_TRUE(b->receive(into, 0, kNone).ok());
}

TEST_F(UnixSocketPair, AWaitEndsWhenSomethingComes) {
  std::thread other([this] { ASSERT_TRUE(a->send(bytes_of("x"), {}, kNone).ok()); });
  EXPECT_TRUE(b->receive(into, 0, kLong).ok());
  other.join();
}

TEST_F(UnixSocketPair, AdoptTakesSocketsOfThisKindAlone) {
  Result<UnixSocket> adopted = UnixSocket::adopt(FileDescriptor(dup(a->fd())), "inherited");
  ASSERT_TRUE(adopted.ok());
  EXPECT_EQ(fcntl(adopted.value().fd(), F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
  EXPECT_EQ(UnixSocket::adopt(FileDescriptor(), "x").status().fault().system_errno, EBADF);
  EXPECT_EQ(UnixSocket::adopt(FileDescriptor(open("/dev/null", O_RDONLY)), "x").status().fault().system_errno,
            ENOTSOCK);
  EXPECT_EQ(UnixSocket::adopt(FileDescriptor(socket(AF_UNIX, SOCK_STREAM, 0)), "x").status().fault().system_errno,
            EPROTOTYPE);
  EXPECT_EQ(UnixSocket::adopt(FileDescriptor(socket(AF_UNIX, SOCK_SEQPACKET, 0)), "x").status().fault().system_errno,
            ENOTCONN);
}

TEST_F(UnixSocketPair, APeerOfAnotherUserIsRefused) {
  EXPECT_TRUE(a->check_same_user().ok());
  if (geteuid() != 0) GTEST_SKIP() << "only root can become another user";
  const pid_t child = fork();
  if (child == 0) {
    const bool changed = seteuid(65534) == 0;
    const Status status = a->check_same_user();  // made by root
    _exit(changed && !status.ok() && status.fault().system_errno == EPERM ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

class UnixListenerTest : public ::testing::Test {
 protected:
  const ScratchDirectory scratch;
  const Result<PrivateDirectory> opened = PrivateDirectory::open(scratch.path(), Missing::refuse);
  const PrivateDirectory& directory = opened.value();
  std::array<std::byte, 64> into{};
};

TEST_F(UnixListenerTest, ConnectsTwoProcesses) {
  Result<UnixListener> listener = UnixListener::listen(directory, "a.sock");
  ASSERT_TRUE(listener.ok()) << listener.status().fault().message;
  struct stat info {};
  ASSERT_EQ(stat((scratch / "a.sock").c_str(), &info), 0);
  EXPECT_TRUE(S_ISSOCK(info.st_mode));
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  Result<std::optional<UnixSocket>> nobody = listener.value().accept();
  ASSERT_TRUE(nobody.ok());
  EXPECT_FALSE(nobody.value().has_value());

  const pid_t child = fork();
  if (child == 0) {
    Result<UnixSocket> socket = UnixSocket::connect(directory, "a.sock", kLong);
    if (!socket.ok() || !socket.value().send(bytes_of("hello"), {}, kLong).ok()) _exit(1);
    const bool same = socket.value().peer().pid == getppid() && socket.value().check_same_user().ok();
    // Stays until the other side has closed.
    _exit(same && !socket.value().receive(into, 0, kLong).ok() ? 0 : 2);
  }
  ASSERT_NE(wait_for_events(listener.value().fd(), POLLIN, kLong), 0);
  Result<std::optional<UnixSocket>> client = listener.value().accept();
  ASSERT_TRUE(client.ok());
  ASSERT_TRUE(client.value().has_value());
  Result<Message> message = client.value()->receive(into, 0, kLong);
  ASSERT_TRUE(message.ok());
  EXPECT_EQ(text_of(into, message.value()), "hello");
  EXPECT_EQ(client.value()->peer().pid, child);
  EXPECT_EQ(client.value()->peer().uid, geteuid());
  EXPECT_FALSE(client.value()->peer_gone());
  const Result<ProcessHandle> process = client.value()->peer_process();
  ASSERT_TRUE(process.ok());
  EXPECT_EQ(process.value().pid(), child);
  EXPECT_TRUE(process.value().alive());
  client.value().reset();
  EXPECT_TRUE(process.value().wait_end(kLong));
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

TEST_F(UnixListenerTest, NobodyListens) {
  const Status missing = UnixSocket::connect(directory, "a.sock", kLong).status();
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.fault().system_errno, ENOENT);
  EXPECT_EQ(missing.fault().file, scratch / "a.sock");
  std::ofstream(scratch / "file") << "x";
  EXPECT_EQ(UnixSocket::connect(directory, "file", kLong).status().fault().system_errno, ECONNREFUSED);
}

TEST_F(UnixListenerTest, ASocketThatADeadProcessLeftIsReplaced) {
  const pid_t child = fork();
  if (child == 0) {
    const Result<UnixListener> listener = UnixListener::listen(directory, "a.sock");
    _exit(listener.ok() ? 0 : 1);  // without any cleaning up
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_EQ(status, 0);
  EXPECT_EQ(UnixSocket::connect(directory, "a.sock", kLong).status().fault().system_errno, ECONNREFUSED);
  {
    const Result<UnixListener> listener = UnixListener::listen(directory, "a.sock");
    ASSERT_TRUE(listener.ok());
    EXPECT_TRUE(UnixSocket::connect(directory, "a.sock", kLong).ok());
  }
  EXPECT_EQ(UnixSocket::connect(directory, "a.sock", kLong).status().fault().system_errno, ENOENT)
      << "the listener removes its file";
}

TEST_F(UnixListenerTest, WhoAsksAndLeavesDoesNoHarm) {
  Result<UnixListener> listener = UnixListener::listen(directory, "a.sock");
  ASSERT_TRUE(listener.ok());
  ASSERT_TRUE(UnixSocket::connect(directory, "a.sock", kLong).ok());
  Result<std::optional<UnixSocket>> client = listener.value().accept();
  ASSERT_TRUE(client.ok());
  ASSERT_TRUE(client.value().has_value());
  EXPECT_TRUE(client.value()->peer_gone());
}

TEST_F(UnixListenerTest, AListenerThatNeverAcceptsIsGivenUp) {
  const FileDescriptor lazy(socket(AF_UNIX, SOCK_SEQPACKET, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strcpy(address.sun_path, directory.short_path_of("a.sock").c_str());
  ASSERT_EQ(bind(lazy.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  ASSERT_EQ(listen(lazy.get(), 0), 0);
  const Result<UnixSocket> first = UnixSocket::connect(directory, "a.sock", kLong);
  ASSERT_TRUE(first.ok());
  const Status second = UnixSocket::connect(directory, "a.sock", 1ms).status();
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.code(), TAILRACE_TIMEOUT);
}

TEST_F(UnixListenerTest, NoPathIsTooLong) {
  std::string path = scratch.path();
  for (int i = 0; i < 4; ++i) {
    path += "/" + std::string(100, 'd');
    ASSERT_EQ(mkdir(path.c_str(), 0700), 0);
  }
  const Result<PrivateDirectory> deep = PrivateDirectory::open(path, Missing::refuse);
  ASSERT_TRUE(deep.ok());
  const Result<UnixListener> listener = UnixListener::listen(deep.value(), "a.sock");
  ASSERT_TRUE(listener.ok());
  EXPECT_TRUE(UnixSocket::connect(deep.value(), "a.sock", kLong).ok());
}

}  // namespace
}  // namespace tailrace::impl
