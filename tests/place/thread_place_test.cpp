// ThreadPlace: it runs the server on a thread that takes no signals, and ends it. (What a server does there is shown
// through the API, and by the simulator's program `session`.)
#include "place/thread/thread_place.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <thread>
#include <vector>

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

// Returns true if the system has given all pages of the pool from `begin` to `end`.
bool is_touched(ThreadPlace& place, uint64_t begin, uint64_t end) {
  std::byte* const pool = place.channel().memory.data();
  std::vector<unsigned char> pages((end - begin) / 4096);
  EXPECT_EQ(mincore(pool + begin, end - begin, pages.data()), 0);
  return std::all_of(pages.begin(), pages.end(), [](unsigned char page) { return (page & 1) != 0; });
}

TEST(ThreadPlace, TakesAsMuchMemoryAgainAsIsUsed) {
  constexpr uint64_t kPart = uint64_t{2} << 20;
  Doorbell doorbell;
  auto place = ThreadPlace::create(16 * kPart, false, 1, choose_cpus(CpuChoice::none, {}, 0), doorbell);
  ASSERT_TRUE(place.ok());
  ASSERT_TRUE(place.value()->take(0, 3 * kPart).ok());
  while (!is_touched(*place.value(), 3 * kPart, 6 * kPart)) std::this_thread::yield();
  place.value()->stop();
  EXPECT_FALSE(is_touched(*place.value(), 0, 3 * kPart)) << "the program touches what it uses";
  EXPECT_FALSE(is_touched(*place.value(), 6 * kPart, 16 * kPart));
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
