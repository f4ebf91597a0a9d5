// Which processes a run takes for its own, while its server lives and after it.
#include <gtest/gtest.h>

#include <map>

#include "server/run_watch.hpp"

namespace tailrace::impl {
namespace {

// Ticks are milliseconds.
struct Processes final : ProcessClock {
  uint64_t began(pid_t process) const override {
    const auto found = living.find(process);
    return found == living.end() ? 0 : found->second;
  }
  uint64_t now() const override { return time; }
  uint64_t ticks(Nanoseconds of) const override { return static_cast<uint64_t>(of.count()) / 1'000'000; }

  std::map<pid_t, uint64_t> living;  // and when each began
  uint64_t time = 0;
};

TEST(RunWatch, AnEarlierRunIsToldFromTheNextByWhenItsClientsBeganAndLeft) {
  Processes processes;
  processes.living = {{1, 1000}, {2, 1001}, {3, 9000}};
  processes.time = 10'000;
  RunWatch first(processes);
  first.came(0, 1);
  first.departed();
  const RunTimes run = first.times();
  RunWatch next(processes);
  EXPECT_TRUE(next.is_of(run, 1));
  EXPECT_TRUE(next.is_of(run, 2)) << "it began long before the first one left";
  EXPECT_FALSE(next.is_of(run, 3)) << "it may have begun after a death that was seen late";
}

TEST(RunWatch, AProcessOfTheNextRunIsNoneOfThisForAnyServer) {
  Processes processes;
  processes.living = {{1, 1000}, {3, 2000}};
  processes.time = 10'000;
  RunWatch first(processes);
  first.came(0, 1);
  processes.living.erase(1);  // a death that no server has seen
  ASSERT_TRUE(first.is_of_another(3));
  first.departed_before(3);
  first.departed();
  EXPECT_FALSE(RunWatch(processes).is_of(first.times(), 3));
}

TEST(RunWatch, TimesOfAMachineThatHasBeenStartedAgainMeanNothing) {
  Processes processes;
  processes.living = {{1, 1000}};
  processes.time = 2000;
  EXPECT_FALSE(RunWatch(processes).is_of({.youngest = 5000, .first_departure = 9000}, 1));
}

}  // namespace
}  // namespace tailrace::impl
