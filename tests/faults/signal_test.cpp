// The application's signals (promise 6): their handlers run on the application's own threads only, and interrupted
// calls are completed all the same.
#include <gtest/gtest.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <thread>

#include "hdf5_file.hpp"
#include "on_back_end.hpp"

namespace {

using test::Directory;
using test::OpenRun;

const char* const kVariables[] = {"a", "b", "c", "d", "e", "f"};

std::atomic<pid_t> application_threads[2];
std::atomic<uint64_t> caught{0};
std::atomic<uint64_t> caught_elsewhere{0};

void catch_signal(int) {
  const int before = errno;
  const auto self = static_cast<pid_t>(syscall(SYS_gettid));
  ++caught;
  if (self != application_threads[0] && self != application_threads[1]) ++caught_elsewhere;
  errno = before;
}

// A handler for `signal`, without SA_RESTART, so that it interrupts every system call; restores the former one at the
// end.
class Handler {
 public:
  explicit Handler(int signal) : signal_(signal) {
    struct sigaction action {};
    action.sa_handler = catch_signal;
    sigaction(signal, &action, &before_);
  }
  ~Handler() { sigaction(signal_, &before_, nullptr); }
  Handler(const Handler&) = delete;
  Handler& operator=(const Handler&) = delete;

 private:
  const int signal_;
  struct sigaction before_ {};
};

class Timer {
 public:
  explicit Timer(int microseconds) { set(microseconds); }
  ~Timer() { set(0); }
  Timer(const Timer&) = delete;
  Timer& operator=(const Timer&) = delete;

 private:
  static void set(int microseconds) {
    const itimerval interval = {{0, microseconds}, {0, microseconds}};
    setitimer(ITIMER_REAL, &interval, nullptr);
  }
};

class Signals : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    application_threads[0] = static_cast<pid_t>(syscall(SYS_gettid));
    caught = 0;
    caught_elsewhere = 0;
  }
  Directory directory_;
};

INSTANTIATE_TEST_SUITE_P(BackEnds, Signals, ::testing::Values("posix", "uring"),
                         [](const auto& test) { return test.param; });

// All verbs that may wait, with a budget that makes them wait.
void simulate(tailrace_client* client, int iterations) {
  std::vector<double> found(8192);
  for (int iteration = 0; iteration < iterations; ++iteration) {
    std::vector<std::vector<double>> lent;
    std::vector<tailrace_ticket> tickets;
    for (int variable = 0; variable < 6; ++variable) {
      std::vector<double> values = test::block(iteration, variable);
      const char* const name = kVariables[variable];
      if (variable % 3 == 0) {
        ASSERT_EQ(tailrace_write(client, name, iteration, values.data()), TAILRACE_OK);
      } else if (variable % 3 == 1) {
        void* memory = nullptr;
        ASSERT_EQ(tailrace_alloc(client, name, iteration, &memory), TAILRACE_OK);
        std::memcpy(memory, values.data(), values.size() * sizeof(double));
        ASSERT_EQ(tailrace_commit(client, name, iteration), TAILRACE_OK);
      } else {
        tailrace_ticket ticket{};
        ASSERT_EQ(tailrace_borrow(client, name, iteration, values.data(), &ticket), TAILRACE_OK);
        lent.push_back(std::move(values));
        tickets.push_back(ticket);
      }
    }
    for (const tailrace_ticket& ticket : tickets) ASSERT_EQ(tailrace_wait(ticket, -1), TAILRACE_OK);
    ASSERT_EQ(tailrace_read(client, "d", iteration, found.data()), TAILRACE_OK);
    ASSERT_EQ(found, test::block(iteration, 3));
    ASSERT_EQ(tailrace_end_iteration(client, iteration), TAILRACE_OK);
    if (iteration % 4 == 0) {
      ASSERT_EQ(tailrace_flush(client), TAILRACE_OK);
    }
  }
}

void expect_right(const Directory& directory, int iterations) {
  ASSERT_EQ(directory.names().size(), static_cast<size_t>(iterations));
  for (int iteration = 0; iteration < iterations; ++iteration) {
    const test::Hdf5File file(directory.path() / directory.names()[static_cast<size_t>(iteration)]);
    ASSERT_TRUE(file.opened());
    for (int variable = 0; variable < 6; ++variable) {
      const std::vector<double> expected = test::block(iteration, variable);
      const std::vector<std::byte> found = file.bytes(iteration, kVariables[variable]);
      ASSERT_EQ(found.size(), expected.size() * sizeof(double));
      EXPECT_EQ(std::memcmp(found.data(), expected.data(), found.size()), 0);
    }
  }
}

TEST_P(Signals, StormOfTimersMeetsOnlyTheApplicationAndHarmsNothing) {
  test::Config config;
  config.backend = GetParam();
  config.budget = "1 MiB";
  config.durability = "durable";
  const Handler handler(SIGALRM);
  {
    const Timer timer(150);
    OpenRun run(config, directory_);
    OPEN_OR_SKIP(run);
    simulate(run, 60);
    const uint64_t before = caught;
    while (caught < before + 20) {
      ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
    }
    EXPECT_EQ(run.close(), TAILRACE_OK);
  }
  EXPECT_GT(caught, 20U);
  EXPECT_EQ(caught_elsewhere, 0U);
  expect_right(directory_, 60);
}

// The thread that uses tailrace blocks the signal, and another thread of the application does not: that one gets it.
TEST_P(Signals, ForAnotherThreadOfTheApplicationReachIt) {
  test::Config config;
  config.backend = GetParam();
  const Handler handler(SIGUSR1);
  sigset_t only;
  sigset_t before;
  sigemptyset(&only);
  sigaddset(&only, SIGUSR1);
  std::atomic<bool> done{false};
  std::atomic<bool> ready{false};
  std::thread other([&] {
    application_threads[1] = static_cast<pid_t>(syscall(SYS_gettid));
    ready = true;
    while (!done) std::this_thread::yield();
  });
  while (!ready) std::this_thread::yield();
  pthread_sigmask(SIG_BLOCK, &only, &before);
  {
    OpenRun run(config, directory_);
    if (run.opened()) {
      for (int i = 0; i < 50; ++i) {
        const uint64_t seen = caught;
        const std::vector<double> values = test::block(i, 0);
        EXPECT_EQ(tailrace_write(run, "a", i, values.data()), TAILRACE_OK);
        kill(getpid(), SIGUSR1);
        EXPECT_EQ(tailrace_end_iteration(run, i), TAILRACE_OK);
        while (caught == seen) std::this_thread::yield();
      }
      EXPECT_EQ(run.close(), TAILRACE_OK);
    } else {
      EXPECT_EQ(run.error().status, TAILRACE_UNSUPPORTED);
    }
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  done = true;
  other.join();
  EXPECT_EQ(caught_elsewhere, 0U);
}

// No thread but the test's own takes signals, and the mask of the caller's thread does not change.
TEST_P(Signals, MasksAreLeftAlone) {
  test::Config config;
  config.backend = GetParam();
  sigset_t before;
  sigset_t after;
  pthread_sigmask(SIG_SETMASK, nullptr, &before);
  OpenRun run(config, directory_);
  OPEN_OR_SKIP(run);
  pthread_sigmask(SIG_SETMASK, nullptr, &after);
  for (int signal = 1; signal < 32; ++signal) EXPECT_EQ(sigismember(&before, signal), sigismember(&after, signal));
  const std::vector<double> values = test::block(0, 0);
  EXPECT_EQ(tailrace_write(run, "a", 0, values.data()), TAILRACE_OK);
  EXPECT_EQ(tailrace_end_iteration(run, 0), TAILRACE_OK);
  EXPECT_EQ(tailrace_flush(run), TAILRACE_OK);  // its threads have begun, and given themselves their names
  int ours = 0;
  for (const auto& entry : test::fs::directory_iterator("/proc/self/task")) {
    std::ifstream status(entry.path() / "status");
    std::string name;
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with("Name:")) name = line.substr(6);
      if (!line.starts_with("SigBlk:") || !name.starts_with("tailrace")) continue;
      ++ours;
      EXPECT_EQ(std::stoull(line.substr(8), nullptr, 16) | 0x40100, 0xfffffffe7ffbfeffU | 0x40100) << name;
    }
  }
  EXPECT_GE(ours, 1);
  EXPECT_EQ(run.close(), TAILRACE_OK);
}

// SIGTERM with a handler, as a batch system sends it before its SIGKILL: the run closes in order.
TEST_P(Signals, TerminationThatIsHandledLosesNothing) {
  test::Config config;
  config.backend = GetParam();
  const Handler handler(SIGTERM);
  OpenRun run(config, directory_);
  OPEN_OR_SKIP(run);
  int iteration = 0;
  while (caught == 0) {
    const std::vector<double> values = test::block(iteration, 0);
    if (iteration == 5) kill(getpid(), SIGTERM);
    ASSERT_EQ(tailrace_write(run, "a", iteration, values.data()), TAILRACE_OK);
    ASSERT_EQ(tailrace_end_iteration(run, iteration), TAILRACE_OK);
    ++iteration;
  }
  EXPECT_EQ(run.close(), TAILRACE_OK);
  EXPECT_EQ(directory_.names().size(), static_cast<size_t>(iteration));
  EXPECT_EQ(caught_elsewhere, 0U);
}

}  // namespace
