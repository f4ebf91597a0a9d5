// ThreadPlace: it runs the server on a thread that takes no signals, and ends it. (What a server does there is shown
// through the API, and by the simulator's program `session`.)
#include "place/thread/thread_place.hpp"

#include <gtest/gtest.h>
#include <signal.h>

#include <atomic>
#include <memory>

namespace tailrace::impl {
namespace {

constexpr uint64_t kBudget = uint64_t{1} << 20;

std::unique_ptr<ThreadPlace> new_place(Doorbell& doorbell) {
  auto place = ThreadPlace::create(kBudget, true, 1, choose_cpus(CpuChoice::none, {}, 0), doorbell);
  EXPECT_TRUE(place.ok());
  return std::move(place).value();
}

TEST(ThreadPlace, RunsTheServerUntilItIsStopped) {
  Doorbell doorbell;
  const std::unique_ptr<ThreadPlace> place = new_place(doorbell);
  std::atomic<bool> ending = false;
  bool ended = false;
  place->start(
      [&] {
        ending.wait(false);
        ended = true;
      },
      [&] {
        ending = true;
        ending.notify_one();
      });
  EXPECT_FALSE(ending);
  place->stop();
  EXPECT_TRUE(ended);
  ended = false;
  place->stop();  // does nothing
  EXPECT_FALSE(ended);
}

TEST(ThreadPlace, NeverStarted) {
  Doorbell doorbell;
  const std::unique_ptr<ThreadPlace> place = new_place(doorbell);
  EXPECT_EQ(place->channel().memory.size(), kBudget);
  EXPECT_NE(place->description().find("thread"), std::string::npos);
}

// Signals belong to the application: the thread takes none.
TEST(ThreadPlace, TakesNoSignals) {
  Doorbell doorbell;
  const std::unique_ptr<ThreadPlace> place = new_place(doorbell);
  sigset_t mask{};
  place->start([&mask] { pthread_sigmask(SIG_SETMASK, nullptr, &mask); }, [] {});
  place->stop();
  for (const int signal : {SIGINT, SIGTERM, SIGUSR1, SIGALRM, SIGCHLD}) EXPECT_EQ(sigismember(&mask, signal), 1);
  sigset_t own;
  pthread_sigmask(SIG_SETMASK, nullptr, &own);
  EXPECT_EQ(sigismember(&own, SIGINT), 0);
}

}  // namespace
}  // namespace tailrace::impl
