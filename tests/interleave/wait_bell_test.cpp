// The protocol of WaitBell under every interleaving: a client that waits for pieces of work, and servers that ring.
//
// The steps are those of base/wait_bell.hpp, with the futex as in the kernel: checking the word and falling asleep is
// one step. The simulator (docs/simulation.md) runs the bell itself, but cannot switch between two atomics.
#include <gtest/gtest.h>

#include <memory>

#include "base/sync/sleep_flag.hpp"
#include "testing/interleave.hpp"

namespace tailrace::impl::testing {
namespace {

// How the waiter looks for work and announces its sleep; only the first is right.
enum class Order { as_written, announces_late, reads_rings_late };

InterleavedRun waiting(Order order, int ringers) {
  struct Shared {
    InterleavedAtomic<int> work{0};
    InterleavedAtomic<uint32_t> rings{0};
    SleepFlag<InterleavedAtomic> asleep;
  };
  auto shared = std::make_shared<Shared>();
  const auto waiter = [shared, order, ringers] {
    const auto ready = [&] { return shared->work.load(std::memory_order_relaxed) == ringers; };
    for (;;) {
      uint32_t seen = shared->rings.load(std::memory_order_acquire);
      if (order == Order::announces_late && ready()) return;
      shared->asleep.announce();
      if (order != Order::announces_late && ready()) return shared->asleep.retract();
      if (order == Order::reads_rings_late) seen = shared->rings.load(std::memory_order_acquire);
      block_until([&] { return shared->rings.load() != seen; });
    }
  };
  const auto ringer = [shared] {
    shared->work.fetch_add(1, std::memory_order_relaxed);
    if (shared->asleep.claim()) shared->rings.fetch_add(1, std::memory_order_release);
  };
  InterleavedRun run{{waiter}, {}};
  run.threads.insert(run.threads.end(), static_cast<size_t>(ringers), ringer);
  return run;
}

TEST(WaitBell, LosesNoRingOfOneServer) {
  const auto result = explore([] { return waiting(Order::as_written, 1); });
  EXPECT_TRUE(result.ok()) << result.report();
  EXPECT_TRUE(result.complete);
}

TEST(WaitBell, LosesNoRingOfTwo) {
  const auto result = explore([] { return waiting(Order::as_written, 2); });
  EXPECT_TRUE(result.ok()) << result.report();
  EXPECT_TRUE(result.complete);
}

TEST(WaitBell, ToAnnounceAfterTheLookWouldLoseOne) {
  const auto result = explore([] { return waiting(Order::announces_late, 1); });
  EXPECT_TRUE(result.failure.starts_with("deadlock")) << result.report();
}

TEST(WaitBell, ToReadTheWordAfterTheLookWouldLoseOne) {
  const auto result = explore([] { return waiting(Order::reads_rings_late, 1); });
  EXPECT_TRUE(result.failure.starts_with("deadlock")) << result.report();
}

}  // namespace
}  // namespace tailrace::impl::testing
