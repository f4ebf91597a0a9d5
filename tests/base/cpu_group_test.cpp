// BindingWatch and CpuGroup: threads leave a cpu that others want, and come back when they are undisturbed again.
#include "base/sync/cpu_group.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

#include "base/sync/bind_thread.hpp"

namespace tailrace::impl {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

// A thread's readings, one after another.
class Script {
 public:
  explicit Script(bool begins_away = false) : watch(begins_away) {}

  // The thread ran and waited for so long within `time`, and the group's others ran. Returns true if the group moves.
  bool then(Nanoseconds time, Nanoseconds ran, Nanoseconds waited, Nanoseconds others_ran = {}) {
    const BindingWatch::Reading from = reading_;
    reading_ = {from.now + time, from.ran + ran, from.waited + waited, from.others_ran + others_ran};
    return watch.judge(from, reading_);
  }
  bool disturbed(Nanoseconds time) { return then(time, milliseconds(2), time / 2); }
  bool quiet(Nanoseconds time) { return then(time, time / 2, Nanoseconds(1000)); }

  BindingWatch watch;

 private:
  BindingWatch::Reading reading_{seconds(1000), {}, {}, {}};
};

TEST(BindingWatch, StaysWhereItIsUndisturbed) {
  Script script;
  for (int look = 0; look < 1000; ++look) EXPECT_FALSE(script.quiet(milliseconds(50)));
  EXPECT_FALSE(script.watch.is_away());
}

TEST(BindingWatch, LeavesOnceOthersHoldItUp) {
  Script script;
  EXPECT_TRUE(script.disturbed(milliseconds(50)));
  EXPECT_TRUE(script.watch.is_away());
}

TEST(BindingWatch, ToleratesRareWaits) {
  Script script;
  EXPECT_FALSE(script.then(seconds(60), milliseconds(1), milliseconds(8))) << "a wait in a long pause";
  EXPECT_FALSE(script.then(milliseconds(50), milliseconds(40), milliseconds(10))) << "less than it ran";
}

TEST(BindingWatch, WaitingForItsOwnGroupDisturbsNobody) {
  Script script;
  EXPECT_FALSE(script.then(milliseconds(50), milliseconds(2), milliseconds(20), milliseconds(48)));
  EXPECT_TRUE(script.then(milliseconds(50), milliseconds(2), milliseconds(20), milliseconds(4)));
}

TEST(BindingWatch, ComesBackAfterItWasUndisturbedForAWhile) {
  Script script;
  ASSERT_TRUE(script.disturbed(milliseconds(50)));
  EXPECT_FALSE(script.disturbed(seconds(10))) << "still disturbed";
  EXPECT_FALSE(script.quiet(milliseconds(900)));
  EXPECT_FALSE(script.disturbed(milliseconds(50))) << "begins anew";
  EXPECT_FALSE(script.quiet(milliseconds(900)));
  EXPECT_TRUE(script.quiet(milliseconds(200)));
  EXPECT_FALSE(script.watch.is_away());
}

TEST(BindingWatch, StaysAwayLongerEachTimeUpToALimit) {
  Script script;
  Nanoseconds pause = BindingWatch::kFirstPause;
  for (int time = 0; time < 10; ++time) {
    ASSERT_TRUE(script.disturbed(milliseconds(50))) << time;
    EXPECT_FALSE(script.quiet(milliseconds(50)));  // from here on it is quiet
    EXPECT_FALSE(script.quiet(pause - milliseconds(1))) << time;
    ASSERT_TRUE(script.quiet(milliseconds(1))) << time;
    pause = std::min(2 * pause, BindingWatch::kLongestPause);
  }
  EXPECT_EQ(pause, BindingWatch::kLongestPause);
  EXPECT_FALSE(script.quiet(2 * BindingWatch::kLongestPause)) << "on its cpu for long";
  ASSERT_TRUE(script.disturbed(milliseconds(50)));
  EXPECT_FALSE(script.quiet(milliseconds(1)));
  EXPECT_TRUE(script.quiet(BindingWatch::kFirstPause));
}

TEST(BindingWatch, MayBeginAway) {
  Script script(true);
  EXPECT_TRUE(script.watch.is_away());
  EXPECT_FALSE(script.quiet(milliseconds(50)));
  EXPECT_TRUE(script.quiet(BindingWatch::kFirstPause));
  EXPECT_FALSE(script.watch.is_away());
}

// Times that a test says, for all threads.
struct SaidTimes {
  CpuGroup::Times now;
  bool told = true;
  std::optional<CpuGroup::Times> operator()() const { return told ? std::optional(now) : std::nullopt; }
};

class CpuGroupTest : public testing::Test {
 protected:
  void SetUp() override {
    if (all_.size() < 2) GTEST_SKIP() << "this thread may use one cpu only";
  }

  std::shared_ptr<CpuGroup> group(bool begins_away = false) {
    return std::make_shared<CpuGroup>(CpuGroup::Options{
        .cpus = {all_[0]}, .away = all_, .begins_away = begins_away, .times = [this] { return said_(); }});
  }
  // Runs it on a thread of its own, which the group may bind.
  static void on_a_thread(std::function<void()> body) { std::thread(std::move(body)).join(); }

  const std::vector<int> all_ = cpus_of_thread();
  SaidTimes said_;
};

TEST_F(CpuGroupTest, MovesItsThreadsAwayAndBack) {
  const auto cpus = group();
  on_a_thread([&] {
    CpuGroup::Member here(*cpus);
    EXPECT_EQ(cpus_of_thread(), std::vector<int>{all_[0]});
    here.look(seconds(1));
    said_.now = {milliseconds(1), seconds(100)};  // the processor time of this thread is less than that
    here.look(seconds(1) + milliseconds(1));
    EXPECT_EQ(cpus_of_thread(), std::vector<int>{all_[0]}) << "it looks now and then only";
    here.look(seconds(2));
    EXPECT_EQ(cpus_of_thread(), all_);
    EXPECT_EQ(cpus->cpus(), all_);
    EXPECT_EQ(cpus->moves(), 1);
    here.look(seconds(3));
    here.look(seconds(5));
    EXPECT_EQ(cpus_of_thread(), std::vector<int>{all_[0]});
    EXPECT_EQ(cpus->moves(), 2);
  });
}

// As `taskset -ap` does for all threads of a process.
TEST_F(CpuGroupTest, LeavesThreadsAloneThatOthersHaveBound) {
  const auto cpus = group();
  on_a_thread([&] {
    CpuGroup::Member here(*cpus);
    here.look(seconds(1));
    const std::vector<int> other = {all_[1]};
    ASSERT_TRUE(bind_thread(other));
    said_.now = {milliseconds(1), seconds(100)};
    here.look(seconds(2));
    EXPECT_EQ(cpus_of_thread(), other);
    EXPECT_EQ(cpus->moves(), 0);
    std::thread([&] {
      const CpuGroup::Member later(*cpus);
      EXPECT_EQ(cpus_of_thread(), other) << "as the thread that started it";
    }).join();
    said_.now = {milliseconds(2), seconds(200)};
    here.look(seconds(20));
    EXPECT_EQ(cpus_of_thread(), other);
  });
}

TEST_F(CpuGroupTest, MovesThreadsThatSleep) {
  const auto cpus = group();
  on_a_thread([&] {
    CpuGroup::Member here(*cpus);
    here.look(seconds(1));
    said_.now = {milliseconds(1), seconds(100)};
    on_a_thread([&] {  // `here` sleeps meanwhile
      CpuGroup::Member other(*cpus);
      said_.now = {};
      other.look(seconds(1));
      said_.now = {milliseconds(1), seconds(100)};
      other.look(seconds(2));
    });
    EXPECT_EQ(cpus_of_thread(), all_);
  });
}

TEST_F(CpuGroupTest, WhoJoinsLaterRunsWhereTheGroupIs) {
  const auto cpus = group(true);
  on_a_thread([&] {
    const CpuGroup::Member here(*cpus);
    EXPECT_EQ(cpus_of_thread(), all_);
  });
}

TEST_F(CpuGroupTest, StaysIfTheSystemDoesNotTellTheTimes) {
  const auto cpus = group();
  said_.told = false;
  on_a_thread([&] {
    CpuGroup::Member here(*cpus);
    for (int look = 0; look < 10; ++look) here.look(seconds(look));
    EXPECT_EQ(cpus->moves(), 0);
  });
}

TEST_F(CpuGroupTest, NeverLeavesCpusThatWereAskedFor) {
  CpuGroup cpus(std::vector<int>{all_[0]});
  on_a_thread([&] {
    CpuGroup::Member here(cpus);
    for (int look = 0; look < 10; ++look) here.look(seconds(look));
    EXPECT_EQ(cpus_of_thread(), std::vector<int>{all_[0]});
    EXPECT_EQ(cpus.moves(), 0);
  });
}

TEST_F(CpuGroupTest, ReadsTheTimesOfTheSystem) {
  CpuGroup cpus(CpuGroup::Options{.cpus = {all_[0]}, .away = all_});
  on_a_thread([&] {
    CpuGroup::Member here(cpus);
    // Nothing keeps it waiting for a fiftieth of such times.
    for (int look = 0; look < 10; ++look) here.look(std::chrono::hours(look));
    EXPECT_EQ(cpus.moves(), 0);
  });
}

}  // namespace
}  // namespace tailrace::impl
