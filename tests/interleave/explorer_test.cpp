// The explorer itself: it finds the classic mistakes, and only those. Each mistake is beside its corrected form.
#include <gtest/gtest.h>

#include <memory>

#include "base/assert.hpp"
#include "testing/interleave.hpp"

namespace tailrace::impl::testing {
namespace {

using std::memory_order_acq_rel;
using std::memory_order_acquire;
using std::memory_order_relaxed;
using std::memory_order_release;
using std::memory_order_seq_cst;

// Two threads count, each by `add`.
template <class Add>
InterleavedRun counting(Add add) {
  auto count = std::make_shared<InterleavedAtomic<int>>(0);
  const auto body = [count, add] { add(*count); };
  return {{body, body}, [count] { require(count->load() == 2, "an update is lost"); }};
}

TEST(Explorer, FindsALostUpdate) {
  const auto result = explore([] { return counting([](auto& count) { count.store(count.load() + 1); }); });
  EXPECT_EQ(result.failure, "an update is lost");
  EXPECT_NE(result.report().find("store 1"), std::string::npos) << result.report();
}

TEST(Explorer, FindsNoLostUpdateInAFetchAdd) {
  const auto result = explore([] { return counting([](auto& count) { count.fetch_add(1); }); });
  EXPECT_TRUE(result.ok()) << result.report();
  EXPECT_TRUE(result.complete);
}

TEST(Explorer, AFailingScheduleFailsAgainWhenReplayed) {
  const auto setup = [] { return counting([](auto& count) { count.store(count.load() + 1); }); };
  const auto found = explore(setup);
  ASSERT_FALSE(found.ok());
  ExploreOptions options;
  options.replay = found.schedule;
  const auto replayed = explore(setup, options);
  EXPECT_EQ(replayed.schedules, 1u);
  EXPECT_EQ(replayed.failure, found.failure);
  EXPECT_EQ(replayed.schedule, found.schedule);
  EXPECT_EQ(replayed.trace, found.trace);
}

TEST(Explorer, RandomSchedulesFindItWithoutTheSearch) {
  ExploreOptions options;
  options.deviations = -1;
  const auto result = explore([] { return counting([](auto& count) { count.store(count.load() + 1); }); }, options);
  EXPECT_EQ(result.failure, "an update is lost");
  EXPECT_NE(result.report().find("seed 1"), std::string::npos);
}

// A sleeper that looks for work and then sleeps, and a waker; `announce_first` is the correct form.
InterleavedRun sleeping(bool announce_first) {
  struct Shared {
    InterleavedAtomic<bool> work{false};
    InterleavedAtomic<bool> asleep{false};
    InterleavedAtomic<bool> rung{false};
  };
  auto shared = std::make_shared<Shared>();
  const auto sleeper = [shared, announce_first] {
    if (announce_first) shared->asleep.store(true);
    if (shared->work.load()) return;
    if (!announce_first) shared->asleep.store(true);
    block_until([&] { return shared->rung.load(); });
  };
  const auto waker = [shared] {
    shared->work.store(true);
    if (shared->asleep.load()) shared->rung.store(true);
  };
  return {{sleeper, waker}, {}};
}

TEST(Explorer, FindsALostWakeUp) {
  const auto result = explore([] { return sleeping(false); });
  EXPECT_TRUE(result.failure.starts_with("deadlock")) << result.report();
}

TEST(Explorer, FindsNoLostWakeUpWhenTheSleepIsAnnouncedFirst) {
  const auto result = explore([] { return sleeping(true); });
  EXPECT_TRUE(result.ok()) << result.report();
  EXPECT_TRUE(result.complete);
}

// Each thread stores its own flag and looks at the other's: one of them must see the other (Dekker).
InterleavedRun dekker(std::memory_order store, std::memory_order load) {
  struct Shared {
    InterleavedAtomic<int> flag[2];
    int saw[2] = {-1, -1};
  };
  auto shared = std::make_shared<Shared>();
  const auto body = [shared, store, load](int self) {
    shared->flag[self].store(1, store);
    shared->saw[self] = shared->flag[1 - self].load(load);
  };
  return {{[body] { body(0); }, [body] { body(1); }},
          [shared] { require(shared->saw[0] + shared->saw[1] > 0, "neither saw the other"); }};
}

TEST(Explorer, FindsAMissingStoreLoadOrder) {
  const auto result = explore([] { return dekker(memory_order_release, memory_order_acquire); });
  EXPECT_EQ(result.failure, "neither saw the other");
}

TEST(Explorer, KnowsThatSequentialConsistencyOrdersStoresBeforeLoads) {
  const auto result = explore([] { return dekker(memory_order_seq_cst, memory_order_seq_cst); });
  EXPECT_TRUE(result.ok()) << result.report();
}

// A plain value is published by a flag.
InterleavedRun publishing(std::memory_order store, std::memory_order load) {
  struct Shared {
    Watched<int> value{0};
    InterleavedAtomic<bool> ready{false};
  };
  auto shared = std::make_shared<Shared>();
  const auto writer = [shared, store] {
    shared->value = 7;
    shared->ready.store(true, store);
  };
  const auto reader = [shared, load] {
    if (shared->ready.load(load)) require(shared->value == 7, "the value is not there");
  };
  return {{writer, reader}, {}};
}

TEST(Explorer, FindsAMissingRelease) {
  const auto result = explore([] { return publishing(memory_order_relaxed, memory_order_acquire); });
  EXPECT_TRUE(result.failure.starts_with("data race")) << result.report();
}

TEST(Explorer, FindsAMissingAcquire) {
  const auto result = explore([] { return publishing(memory_order_release, memory_order_relaxed); });
  EXPECT_TRUE(result.failure.starts_with("data race")) << result.report();
}

TEST(Explorer, AcceptsReleaseAndAcquire) {
  const auto result = explore([] { return publishing(memory_order_release, memory_order_acquire); });
  EXPECT_TRUE(result.ok()) << result.report();
  EXPECT_TRUE(result.complete);
}

// A release by one thread is still seen through another's read-modify-write (a release sequence).
TEST(Explorer, AReadModifyWritePassesARelease) {
  const auto result = explore([]() -> InterleavedRun {
    struct Shared {
      Watched<int> value{0};
      InterleavedAtomic<int> count{0};
    };
    auto shared = std::make_shared<Shared>();
    const auto writer = [shared] {
      shared->value = 7;
      shared->count.store(1, memory_order_release);
    };
    const auto passer = [shared] {
      int one = 1;
      shared->count.compare_exchange_strong(one, 2, memory_order_relaxed);
    };
    const auto reader = [shared] {
      if (shared->count.load(memory_order_acquire) == 2) require(shared->value == 7, "not there");
    };
    return {{writer, passer, reader}, {}};
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

TEST(Explorer, AWeakCompareExchangeMayFailForNothing) {
  const auto result = explore([]() -> InterleavedRun {
    auto value = std::make_shared<InterleavedAtomic<int>>(0);
    const auto body = [value] {
      int zero = 0;
      require(value->compare_exchange_weak(zero, 1), "it failed for nothing");
    };
    return {{body}, {}};
  });
  EXPECT_EQ(result.failure, "it failed for nothing");
}

TEST(Explorer, AThreadNeverSeesAnOlderValueThanBefore) {
  const auto result = explore([]() -> InterleavedRun {
    auto value = std::make_shared<InterleavedAtomic<int>>(0);
    const auto writer = [value] {
      for (int i = 1; i < 4; ++i) value->store(i, memory_order_relaxed);
    };
    const auto reader = [value] {
      const int first = value->load(memory_order_relaxed);
      require(value->load(memory_order_relaxed) >= first, "time went backwards");
    };
    return {{writer, reader}, {}};
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

TEST(Explorer, ReportsAThreadThatSpins) {
  ExploreOptions options;
  options.max_steps = 100;
  const auto result = explore(
      []() -> InterleavedRun {
        auto never = std::make_shared<InterleavedAtomic<bool>>(false);
        return {{[never] {
                  while (!never->load()) yield_to_others();
                }},
                {}};
      },
      options);
  EXPECT_TRUE(result.failure.starts_with("more than 100 steps")) << result.report();
}

TEST(Explorer, SpinningThreadsThatYieldLetOthersRun) {
  const auto result = explore([]() -> InterleavedRun {
    auto ready = std::make_shared<InterleavedAtomic<bool>>(false);
    const auto spin = [ready] {
      while (!ready->load()) yield_to_others();
    };
    return {{spin, spin, [ready] { ready->store(true); }}, {}};
  });
  EXPECT_TRUE(result.ok()) << result.report();
}

TEST(Explorer, AnExceptionFailsTheSchedule) {
  const auto result = explore([]() -> InterleavedRun { return {{[] { throw std::runtime_error("no"); }}, {}}; });
  EXPECT_EQ(result.failure, "exception: no");
}

TEST(ExplorerDeathTest, ADefectNamesItsSchedule) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const auto aborting = [] {
    (void)explore([]() -> InterleavedRun {
      auto value = std::make_shared<InterleavedAtomic<int>>(0);
      return {{[value] {
                value->store(1);
                TAILRACE_ASSERT(value->load() == 0);
              }},
              {}};
    });
  };
  EXPECT_DEATH(aborting(), "TAILRACE_SCHEDULE='aaa'");
}

}  // namespace
}  // namespace tailrace::impl::testing
