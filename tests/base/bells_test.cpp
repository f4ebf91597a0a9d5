// Doorbell and WaitBell with real threads: no ring is lost, and no thread waits needlessly.
#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/sync/doorbell.hpp"
#include "base/sync/wait_bell.hpp"

namespace tailrace::impl {
namespace {

using std::chrono::nanoseconds;

// The server's half of the protocol, as in the place: sleeps until `work()` finds some.
template <class Work>
void serve_once(Doorbell& bell, Work work) {
  for (;;) {
    if (work()) return;
    bell.prepare();
    if (work()) return bell.cancel();
    bell.sleep();
  }
}

TEST(Doorbell, NoRingIsLost) {
  Doorbell bell;
  std::atomic<uint64_t> made{0};
  constexpr uint64_t kEach = 20000;
  std::vector<std::thread> makers;
  for (int i = 0; i < 3; ++i) {
    makers.emplace_back([&] {
      for (uint64_t n = 0; n < kEach; ++n) {
        made.fetch_add(1, std::memory_order_relaxed);  // relaxed: the bell orders it
        bell.ring();
      }
    });
  }
  uint64_t taken = 0;
  while (taken < 3 * kEach) {
    serve_once(bell, [&] {
      const uint64_t now = made.load(std::memory_order_relaxed);
      const bool found = now > taken;
      taken = now;
      return found;
    });
  }
  for (std::thread& maker : makers) maker.join();
  EXPECT_EQ(taken, 3 * kEach);
}

TEST(Doorbell, OneByOne) {
  Doorbell there;
  Doorbell back;
  std::atomic<uint64_t> asked{0};
  std::atomic<uint64_t> answered{0};
  constexpr uint64_t kRounds = 10000;
  std::thread server([&] {
    for (uint64_t round = 1; round <= kRounds; ++round) {
      serve_once(there, [&] { return asked.load() == round; });
      answered.store(round);
      back.ring();
    }
  });
  for (uint64_t round = 1; round <= kRounds; ++round) {
    asked.store(round);
    there.ring();
    serve_once(back, [&] { return answered.load() == round; });
  }
  server.join();
}

TEST(Doorbell, ARingAfterPrepareEndsTheSleep) {
  Doorbell bell;
  bell.prepare();
  bell.ring();
  bell.sleep();
  // A ring from elsewhere (io_uring), at any time.
  EXPECT_EQ(eventfd_write(bell.fd(), 1), 0);
  bell.prepare();
  bell.sleep();
}

TEST(Doorbell, ARingWhileAwakeCostsNothingAndIsForgotten) {
  Doorbell bell;
  bell.ring();
  eventfd_t count = 0;
  bell.prepare();
  bell.ring();
  bell.ring();
  EXPECT_EQ(eventfd_read(bell.fd(), &count), 0);
  EXPECT_EQ(count, 1u) << "only the ring that found the server asleep may write";
}

TEST(Doorbell, TheServerAlsoSleepsOnAnotherDescriptor) {
  Doorbell bell;
  const EventFd other;
  bell.listen_also_to({other.fd(), std::chrono::hours(1)});
  EXPECT_EQ(bell.also_listens_to(), other.fd());
  other.raise();
  bell.prepare();
  EXPECT_TRUE(bell.is_prepared());
  bell.sleep();  // ends: without a limit, and though nobody rings
  EXPECT_FALSE(bell.is_prepared());
  bell.prepare();
  bell.ring();
  bell.sleep();
  eventfd_t count = 0;
  EXPECT_EQ(eventfd_read(other.fd(), &count), 0) << "the other descriptor is left as it is";
  EXPECT_EQ(count, 1u);
  bell.listen_also_to({other.fd(), nanoseconds(1)});
  EXPECT_EQ(bell.bounded(std::nullopt), nanoseconds(1));
  EXPECT_EQ(bell.bounded(nanoseconds(0)), nanoseconds(0));
  bell.prepare();
  bell.sleep();  // ends: its longest time has passed
  bell.listen_also_to({});
  EXPECT_EQ(bell.bounded(std::nullopt), std::nullopt);
}

TEST(WaitBell, NoRingIsLost) {
  WaitBell bell;
  std::atomic<uint64_t> made{0};
  constexpr uint64_t kEach = 20000;
  std::vector<std::thread> makers;
  for (int i = 0; i < 3; ++i) {
    makers.emplace_back([&] {
      for (uint64_t n = 0; n < kEach; ++n) {
        made.fetch_add(1, std::memory_order_relaxed);
        bell.ring();
      }
    });
  }
  for (uint64_t wanted = 1; wanted <= 3 * kEach; wanted += 7) {
    EXPECT_TRUE(bell.wait_until([&] { return made.load(std::memory_order_relaxed) >= wanted; }, std::nullopt));
  }
  for (std::thread& maker : makers) maker.join();
}

TEST(WaitBell, WhatWasWrittenBeforeTheRingIsSeen) {
  WaitBell there;
  WaitBell back;
  uint64_t message = 0;  // plain: the bells alone order it
  std::atomic<uint64_t> turn{0};
  constexpr uint64_t kRounds = 10000;
  std::thread other([&] {
    for (uint64_t round = 0; round < kRounds; ++round) {
      there.wait_until([&] { return turn.load(std::memory_order_acquire) == 2 * round + 1; }, std::nullopt);
      message += 1;
      turn.store(2 * round + 2, std::memory_order_release);
      back.ring();
    }
  });
  for (uint64_t round = 0; round < kRounds; ++round) {
    message += 1;
    turn.store(2 * round + 1, std::memory_order_release);
    there.ring();
    back.wait_until([&] { return turn.load(std::memory_order_acquire) == 2 * round + 2; }, std::nullopt);
  }
  other.join();
  EXPECT_EQ(message, 2 * kRounds);
}

TEST(WaitBell, TimeOut) {
  WaitBell bell;
  EXPECT_FALSE(bell.wait_until([] { return false; }, nanoseconds(0)));
  EXPECT_FALSE(bell.wait_until([] { return false; }, nanoseconds(-5)));
  EXPECT_FALSE(bell.wait_until([] { return false; }, nanoseconds(2'000'000)));
  EXPECT_TRUE(bell.wait_until([] { return true; }, nanoseconds(0)));
  int looks = 0;
  EXPECT_TRUE(bell.wait_until([&] { return ++looks == 1; }, std::nullopt));
}

}  // namespace
}  // namespace tailrace::impl
