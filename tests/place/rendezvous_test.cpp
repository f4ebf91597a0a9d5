// Clients that meet a server, with real processes: one at a time, many at once, and servers that fail.
#include "place/core/rendezvous.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <functional>
#include <set>
#include <thread>

#include "testing/scratch.hpp"

namespace tailrace::impl {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

constexpr auto kLong = 60s;  // never reached, unless something is broken

class Rendezvous : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(opened.ok()); }

  StartOptions options(const std::string& mode, Nanoseconds limit = kLong) const {
    return {RENDEZVOUS_SERVER, {mode, root, "job", "0", news}, log, limit};
  }
  // Meets a server of that kind, and returns the failure's message.
  std::string failure_of(const std::string& mode, Nanoseconds limit = kLong) {
    const Result<UnixSocket> socket = meet(job, 0, options(mode, limit));
    code = socket.status().code();
    return socket.ok() ? "" : socket.status().fault().message;
  }
  // Returns the process ids of all servers, in order.
  std::vector<pid_t> servers() const {
    std::ifstream file(news);
    std::vector<pid_t> pids;
    for (pid_t pid = 0; file >> pid;) pids.push_back(pid);
    return pids;
  }
  static pid_t ask(UnixSocket& socket) {
    pid_t pid = 0;
    const bool answered = socket.send(std::as_bytes(std::span("?", 1)), {}, kLong).ok() &&
                          socket.receive(std::as_writable_bytes(std::span(&pid, 1)), 0, kLong).ok();
    return answered ? pid : -1;
  }
  // Closes the connection and waits until the server has ended.
  static void part(UnixSocket socket) {
    const Result<ProcessHandle> server = socket.peer_process();
    ASSERT_TRUE(server.ok());
    { const UnixSocket closed = std::move(socket); }
    ASSERT_TRUE(server.value().wait_end(kLong));
  }
  bool is_there() const { return fs::exists(fs::path(root) / "job"); }
  std::vector<std::string> files() const { return job.directory().names().value(); }

  const ScratchDirectory scratch;
  const std::string root = scratch / "root";
  const std::string news = scratch / "news";
  const std::string log = scratch / "log";
  Result<RuntimeDirectory> opened = RuntimeDirectory::open(root, "job");
  RuntimeDirectory& job = opened.value();
  tailrace_status code = TAILRACE_OK;
};

TEST_F(Rendezvous, TheFirstStartsTheServerAndTheNextFindsIt) {
  Result<UnixSocket> first = meet(job, 0, options("serves"));
  ASSERT_TRUE(first.ok()) << first.status().fault().message;
  Result<UnixSocket> second = meet(job, 0, options("crashes"));
  ASSERT_TRUE(second.ok());
  const pid_t server = ask(first.value());
  EXPECT_EQ(servers(), std::vector<pid_t>{server});
  EXPECT_EQ(ask(second.value()), server);
  EXPECT_EQ(first.value().peer().pid, server);
  EXPECT_EQ(second.value().peer_process().value().pid(), server);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1) << "it is nobody's child";
  EXPECT_TRUE(ServerLock::is_taken(job, 0));
  EXPECT_FALSE(ServerLock::is_taken(job, 1));
  { const UnixSocket closed = std::move(second).value(); }
  part(std::move(first).value());
  EXPECT_EQ(files(), std::vector<std::string>{"election.lock"});
  EXPECT_FALSE(ServerLock::is_taken(job, 0));
}

TEST_F(Rendezvous, ServersOfOneJobAreToldApart) {
  Result<UnixSocket> zero = meet(job, 0, options("serves"));
  StartOptions other = options("serves");
  other.arguments[3] = "1";
  Result<UnixSocket> one = meet(job, 1, other);
  ASSERT_TRUE(zero.ok());
  ASSERT_TRUE(one.ok());
  EXPECT_NE(ask(zero.value()), ask(one.value()));
  part(std::move(zero).value());
  part(std::move(one).value());
}

TEST_F(Rendezvous, AfterOneHasEndedANewOneIsStarted) {
  for (size_t i = 1; i <= 3; ++i) {
    Result<UnixSocket> socket = meet(job, 0, options("serves"));
    ASSERT_TRUE(socket.ok());
    EXPECT_EQ(servers().size(), i);
    part(std::move(socket).value());
  }
}

TEST_F(Rendezvous, WhatAKilledServerLeftIsNoObstacle) {
  Result<UnixSocket> first = meet(job, 0, options("serves"));
  ASSERT_TRUE(first.ok());
  const Result<ProcessHandle> process = first.value().peer_process();
  ASSERT_TRUE(process.ok());
  ASSERT_EQ(kill(process.value().pid(), SIGKILL), 0);
  ASSERT_TRUE(process.value().wait_end(kLong));
  EXPECT_TRUE(first.value().peer_gone());
  EXPECT_EQ(files(), (std::vector<std::string>{"election.lock", "server_0.lock", "server_0.sock"}));
  EXPECT_FALSE(ServerLock::is_taken(job, 0));
  Result<UnixSocket> second = meet(job, 0, options("serves"));
  ASSERT_TRUE(second.ok()) << second.status().fault().message;
  EXPECT_NE(ask(second.value()), process.value().pid());
  EXPECT_EQ(servers().size(), 2u);
  part(std::move(second).value());
}

// Processes that all do the same at the same time, and end on request.
class Crowd {
 public:
  // `act` returns a number for the test.
  Crowd(int count, const std::function<pid_t(int)>& act) {
    if (pipe(go_) != 0 || pipe(told_) != 0 || pipe(leave_) != 0) abort();
    for (int i = 0; i < count; ++i) {
      const pid_t pid = fork();
      if (pid != 0) {
        pids_.push_back(pid);
        continue;
      }
      close(go_[1]);
      close(leave_[1]);
      char byte = 0;
      (void)!read(go_[0], &byte, 1);
      const pid_t number = act(leave_[0]);
      _exit(write(told_[1], &number, sizeof number) == sizeof number && read(leave_[0], &byte, 1) == 0 ? 0 : 1);
    }
    close(go_[0]);
    close(told_[1]);
    close(leave_[0]);
  }
  ~Crowd() {
    close(told_[0]);
    for (const pid_t pid : pids_) waitpid(pid, nullptr, 0);
  }
  void go() { close(go_[1]); }
  void leave() { close(leave_[1]); }
  std::vector<pid_t> told() {
    std::vector<pid_t> numbers(pids_.size());
    for (pid_t& number : numbers) {
      if (read(told_[0], &number, sizeof number) != sizeof number) number = -2;
    }
    return numbers;
  }
  const std::vector<pid_t>& pids() const { return pids_; }

 private:
  int go_[2];
  int told_[2];
  int leave_[2];
  std::vector<pid_t> pids_;
};

TEST_F(Rendezvous, ManyAtOnceStartOne) {
  constexpr int kClients = 32;
  for (int round = 0; round < 3; ++round) {
    fs::remove(news);
    std::optional<UnixSocket> socket;  // of each child
    Crowd crowd(kClients, [&](int) {
      Result<RuntimeDirectory> own = RuntimeDirectory::open(root, "job");
      Result<UnixSocket> met = meet(own.value(), 0, options("serves"));
      if (!met.ok()) return -3;
      socket = std::move(met).value();
      return ask(*socket);
    });
    crowd.go();
    const std::vector<pid_t> told = crowd.told();
    ASSERT_EQ(servers().size(), 1u);
    const Result<ProcessHandle> server = ProcessHandle::open(servers()[0]);
    EXPECT_EQ(told, std::vector<pid_t>(kClients, servers()[0]));
    crowd.leave();
    ASSERT_TRUE(!server.ok() || server.value().wait_end(kLong));
  }
}

TEST_F(Rendezvous, ManyComeWhileServersEndAndTheirDirectoryGoes) {
  constexpr int kClients = 8;
  constexpr int kTimes = 10;
  Crowd crowd(kClients, [&](int) {
    for (int i = 0; i < kTimes; ++i) {
      Result<RuntimeDirectory> own = RuntimeDirectory::open(root, "job");
      if (!own.ok()) continue;  // the directory was removed between two steps
      pid_t pid = -1;
      for (int attempt = 0; attempt < 100 && pid < 0; ++attempt) {  // it may end during the meeting: see meet()
        Result<UnixSocket> met = meet(own.value(), 0, options("serves"));
        if (!met.ok()) return -3;
        pid = ask(met.value());
      }
      if (pid < 0) return -4;
      if (!own.value().remove_if_unused().ok()) return -5;
    }
    return 1;
  });
  crowd.go();
  EXPECT_EQ(crowd.told(), std::vector<pid_t>(kClients, 1));
  crowd.leave();
}

TEST_F(Rendezvous, TheElectedDiesAndTheNextIsElected) {
  ASSERT_EQ(mkfifo(news.c_str(), 0600), 0);
  const pid_t elected = fork();
  if (elected == 0) {
    (void)meet(job, 0, options("silent"));
    _exit(1);
  }
  {
    std::ifstream started(news);  // opens when the silent one writes
    pid_t pid = 0;
    ASSERT_TRUE(started >> pid);
  }
  fs::remove(news);
  EXPECT_EQ(meet(job, 0, options("serves", 1ms)).status().code(), TAILRACE_TIMEOUT) << "somebody is elected";
  std::thread killer([elected] { kill(elected, SIGKILL); });
  Result<UnixSocket> socket = meet(job, 0, options("serves"));
  killer.join();
  waitpid(elected, nullptr, 0);
  ASSERT_TRUE(socket.ok()) << socket.status().fault().message;
  EXPECT_EQ(servers(), std::vector<pid_t>{ask(socket.value())});
  part(std::move(socket).value());
}

TEST_F(Rendezvous, AServerThatCrashesBeforeItIsReady) {
  const std::string message = failure_of("crashes");
  EXPECT_EQ(code, TAILRACE_SERVER_LOST);
  EXPECT_NE(message.find(RENDEZVOUS_SERVER), std::string::npos) << message;
  EXPECT_NE(message.find("ended before it was ready; its log '" + log + "' ends with: first line\nit hurts"),
            std::string::npos)
      << message;
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  Result<UnixSocket> socket = meet(job, 0, options("serves"));
  ASSERT_TRUE(socket.ok()) << "the next one may do better";
  part(std::move(socket).value());
}

TEST_F(Rendezvous, AServerThatEndsAtOnce) {
  const std::string message = failure_of("ends_at_once");
  EXPECT_EQ(code, TAILRACE_SERVER_LOST);
  EXPECT_NE(message.find("ended before it was ready (exit status 7)"), std::string::npos) << message;
  EXPECT_FALSE(is_there()) << "the election's lock has stayed";
}

TEST_F(Rendezvous, AServerThatIsNeverReadyIsKilled) {
  const std::string message = failure_of("silent", 300ms);
  EXPECT_EQ(code, TAILRACE_TIMEOUT);
  EXPECT_NE(message.find("was not ready within 300 ms: killed"), std::string::npos) << message;
  EXPECT_FALSE(is_there()) << "the election's lock has stayed";
  for (const pid_t pid : servers()) {  // none if it was killed before it got that far
    const Result<ProcessHandle> silent = ProcessHandle::open(pid);
    EXPECT_TRUE(!silent.ok() || silent.value().wait_end(kLong));
  }
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST_F(Rendezvous, AServerThatSaysWhyItCannotStart) {
  const std::string message = failure_of("refuses");
  EXPECT_EQ(code, TAILRACE_INVALID_CONFIG);
  EXPECT_NE(message.find("did not start: sim.yaml:3: no such thing"), std::string::npos) << message;
  EXPECT_FALSE(is_there()) << "the election's lock has stayed";
}

TEST_F(Rendezvous, AServerThatBabbles) {
  const std::string message = failure_of("babbles");
  EXPECT_EQ(code, TAILRACE_IO_ERROR);
  EXPECT_NE(message.find("announced 3 bytes"), std::string::npos) << message;
}

TEST_F(Rendezvous, AServerThatStaysAChildIsNotTolerated) {
  const std::string message = failure_of("stays", 6s);
  EXPECT_EQ(code, TAILRACE_INTERNAL);
  EXPECT_NE(message.find("goes on as a child"), std::string::npos) << message;
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
}

TEST_F(Rendezvous, AProgramThatIsMissing) {
  StartOptions none = options("serves");
  none.executable = scratch / "none";
  const Status status = meet(job, 0, none).status();
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.fault().file, scratch / "none");
  EXPECT_EQ(status.fault().system_errno, ENOENT);
  EXPECT_FALSE(is_there()) << "the election's lock has stayed";
}

TEST_F(Rendezvous, ASecondServerSaysThatThereIsOne) {
  {
    const Result<ServerLock> lock = ServerLock::take(job, 0);
    ASSERT_TRUE(lock.ok());
    Result<RuntimeDirectory> again = RuntimeDirectory::open(root, "job");
    const Status second = ServerLock::take(again.value(), 0, 1ms).status();
    ASSERT_FALSE(second.ok());
    EXPECT_EQ(second.code(), TAILRACE_CLIENT_IN_USE);
    EXPECT_NE(second.fault().message.find("server 0 of this job is running already"), std::string::npos);
    EXPECT_TRUE(ServerLock::take(again.value(), 1, 1ms).ok());
    // It holds the lock and does not listen: a client tries as often as makes sense, and no longer.
    failure_of("serves");
    EXPECT_EQ(code, TAILRACE_SERVER_LOST);
  }
  EXPECT_TRUE(ServerLock::take(job, 0, 1ms).ok());
}

TEST_F(Rendezvous, NobodyListensToAnnouncements) {
  announce_ready(-1);
  announce_ready(open("/dev/null", O_RDONLY));
  Result<std::pair<UnixSocket, UnixSocket>> ends = UnixSocket::pair();
  ASSERT_TRUE(ends.ok());
  { const UnixSocket closed = std::move(ends.value().second); }
  announce_failure(dup(ends.value().first.fd()), Status(TAILRACE_INTERNAL, "x"));
}

}  // namespace
}  // namespace tailrace::impl
