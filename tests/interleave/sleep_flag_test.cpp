// SleepFlag under every interleaving, as Doorbell uses it: no wake-up is lost, and no system call is needless.
#include "base/sync/sleep_flag.hpp"

#include <gtest/gtest.h>

#include <memory>

#include "testing/interleave.hpp"

namespace tailrace::impl::testing {
namespace {

// SleepFlag with plain stores and loads: the waker may read the flag before its work is visible.
class FlagOfStoresAndLoads {
 public:
  void announce() { asleep_.store(true, std::memory_order_release); }
  void retract() { asleep_.store(false, std::memory_order_release); }
  bool claim() { return asleep_.load(std::memory_order_acquire); }

 private:
  InterleavedAtomic<bool> asleep_{false};
};

// A server that takes `wakers` pieces of work and sleeps on an eventfd (`bell`) while there is none, and the wakers
// that each bring a piece. As in Doorbell.
template <class Flag>
InterleavedRun serving(int wakers) {
  struct Shared {
    InterleavedAtomic<int> work{0};
    InterleavedAtomic<int> bell{0};
    Flag flag;
  };
  auto shared = std::make_shared<Shared>();
  const auto server = [shared, wakers] {
    while (shared->work.load(std::memory_order_relaxed) < wakers) {
      shared->flag.announce();
      if (shared->work.load(std::memory_order_relaxed) == wakers) {
        shared->flag.retract();
        continue;
      }
      block_until([&] { return shared->bell.load() > 0; });
      shared->bell.exchange(0);
      shared->flag.retract();
    }
  };
  const auto waker = [shared] {
    shared->work.fetch_add(1, std::memory_order_relaxed);
    if (shared->flag.claim()) shared->bell.fetch_add(1);
  };
  InterleavedRun run{{server}, {}};
  run.threads.insert(run.threads.end(), static_cast<size_t>(wakers), waker);
  return run;
}

TEST(SleepFlag, LosesNoWakeUpOfOneWaker) {
  const auto result = explore([] { return serving<SleepFlag<InterleavedAtomic>>(1); });
  EXPECT_TRUE(result.ok()) << result.report();
  EXPECT_TRUE(result.complete);
}

TEST(SleepFlag, LosesNoWakeUpOfTwoWakers) {
  const auto result = explore([] { return serving<SleepFlag<InterleavedAtomic>>(2); });
  EXPECT_TRUE(result.ok()) << result.report();
  EXPECT_TRUE(result.complete);
}

TEST(SleepFlag, PlainStoresAndLoadsWouldLoseOne) {
  const auto result = explore([] { return serving<FlagOfStoresAndLoads>(1); });
  EXPECT_TRUE(result.failure.starts_with("deadlock")) << result.report();
}

TEST(SleepFlag, OfTwoWakersOneClaimsASleep) {
  const auto result = explore([]() -> InterleavedRun {
    struct Shared {
      SleepFlag<InterleavedAtomic> flag;
      InterleavedAtomic<int> claims{0};
    };
    auto shared = std::make_shared<Shared>();
    shared->flag.announce();
    const auto waker = [shared] { shared->claims.fetch_add(shared->flag.claim() ? 1 : 0); };
    return {{waker, waker}, [shared] { require(shared->claims.load() == 1, "not exactly one claim"); }};
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

}  // namespace
}  // namespace tailrace::impl::testing
