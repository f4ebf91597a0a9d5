// Adaptive: it finds the best window, notices when another one becomes the best, counts what it does, and depends on
// time and seed alone. The storage is a plain model, in which the window decides what a request costs.
#include "engine/schedule/adaptive.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "scheduler_rig.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr uint64_t kBytes = 1000;  // of a request

Adaptive::Options four_servers(uint64_t seed = 1) {
  Adaptive::Options options;
  options.twins.servers = 4;
  options.windows = Adaptive::usual_windows();
  options.seed = seed;
  return options;
}

// Clients that each wait for the end of a request before they bring the next one, and a storage that carries out one
// at a time. `cost` returns how long a request takes with a window.
class Bench {
 public:
  using Cost = std::function<Nanoseconds(Nanoseconds window)>;

  Bench(const Adaptive::Options& options, uint64_t seed, Cost cost)
      : adaptive(options), rig_(adaptive), dice_(seed), cost_(std::move(cost)) {}

  void bring(int requests) {
    for (int i = 0; i < requests; ++i) rig_.push(1, static_cast<uint32_t>(dice_.below(4)), Operation::write, kBytes);
  }
  void set_cost(Cost cost) { cost_ = std::move(cost); }

  // Lets time pass. A caller that has its answer brings another request if `again`.
  void run(Nanoseconds time, bool again = true) {
    until_ += time;
    for (; now < until_; now += Nanoseconds(dice_.between(40'000, 160'000))) step(again);
  }

  uint64_t ended() const { return ended_; }
  bool idle() const { return ended_ == rig_.pushed(); }
  // Returns in how many of the trials since the last call the window was used, and clears the count.
  double share_of(Nanoseconds window) {
    uint64_t all = 0;
    uint64_t of_window = 0;
    for (const Adaptive::Choice& choice : adaptive.choices()) {
      const uint64_t trials = choice.trials - seen_[choice.window];
      seen_[choice.window] = choice.trials;
      all += trials;
      if (choice.window == window) of_window = trials;
    }
    return all == 0 ? 0 : static_cast<double>(of_window) / static_cast<double>(all);
  }

  Adaptive adaptive;
  Nanoseconds now{0};

 private:
  void step(bool again) {
    while (!under_way_.empty() && free_at_ + cost_(adaptive.window()) <= now) {
      free_at_ += cost_(adaptive.window());
      rig_.end(under_way_.front(), now);
      under_way_.pop_front();
      ++ended_;
      if (again) bring(1);
    }
    if (under_way_.empty()) free_at_ = now;
    for (const uint64_t token : rig_.ask(now)) under_way_.push_back(token);
  }

  SchedulerRig rig_;
  Dice dice_;
  Cost cost_;
  Nanoseconds until_{0};
  std::deque<uint64_t> under_way_;
  Nanoseconds free_at_{0};  // when the storage has carried out the request before
  uint64_t ended_ = 0;
  std::map<Nanoseconds, uint64_t> seen_;
};

// Requests cost half as much with one window as with all others.
Bench::Cost best_at(Nanoseconds best) {
  return [best](Nanoseconds window) { return window == best ? microseconds(500) : microseconds(1000); };
}

TEST(Adaptive, TriesNoWindowsAndThoseFromAnEighthTo32Milliseconds) {
  const std::vector<Nanoseconds> windows = Adaptive::usual_windows();
  ASSERT_EQ(windows.size(), 10u);
  EXPECT_EQ(windows.front(), Nanoseconds::zero());
  EXPECT_EQ(windows[1], microseconds(125));
  EXPECT_EQ(windows[7], milliseconds(8));
  EXPECT_EQ(windows.back(), milliseconds(32));
}

TEST(Adaptive, FindsTheBestWindow) {
  for (const Nanoseconds best : {Nanoseconds(0), Nanoseconds(microseconds(500)), Nanoseconds(milliseconds(8))}) {
    for_seeds(2, [best](uint64_t seed) {
      Bench bench(four_servers(seed), seed, best_at(best));
      bench.bring(256);
      bench.run(seconds(6));
      for (const Adaptive::Choice& choice : bench.adaptive.choices()) {
        EXPECT_TRUE(choice.rate) << choice.window.count() << " ns was not measured";
      }
      bench.share_of(best);
      bench.run(seconds(30));
      EXPECT_GE(bench.share_of(best), 0.8);
      EXPECT_EQ(bench.adaptive.renewals(), 0u) << "nothing has changed";
    });
  }
}

TEST(Adaptive, FindsAnotherWindowWhenThatBecomesTheBest) {
  for_seeds(3, [](uint64_t seed) {
    Bench bench(four_servers(seed), seed, best_at(milliseconds(8)));
    bench.bring(256);
    bench.run(seconds(30));
    EXPECT_EQ(bench.adaptive.renewals(), 0u);
    bench.set_cost(best_at(milliseconds(1)));
    bench.run(seconds(15));
    EXPECT_EQ(bench.adaptive.renewals(), 1u) << "the throughput has halved";
    bench.share_of({});
    bench.run(seconds(30));
    EXPECT_GE(bench.share_of(milliseconds(1)), 0.8);
  });
}

TEST(Adaptive, MeasuresOnlyWhileSomethingIsUnderWay) {
  Bench bench(four_servers(), 1, best_at(milliseconds(4)));
  for (int burst = 0; burst < 150; ++burst) {
    bench.bring(200);
    bench.run(milliseconds(300), false);
    ASSERT_TRUE(bench.idle()) << "burst " << burst;
    bench.run(milliseconds(700), false);
  }
  uint64_t bytes = 0;
  Nanoseconds busy{0};
  for (const Adaptive::Choice& choice : bench.adaptive.choices()) {
    bytes += choice.bytes;
    busy += choice.busy;
    if (choice.rate) {
      EXPECT_GT(*choice.rate, 0.5e6) << "pauses would make the rate a fraction of it";
    }
  }
  EXPECT_LE(bytes, 150 * 200 * kBytes);
  EXPECT_LT(busy, seconds(45));
  EXPECT_GT(busy, seconds(5));
}

TEST(Adaptive, CountsWhatHasEnded) {
  Adaptive::Options options = four_servers();
  options.windows = {Nanoseconds::zero()};
  Adaptive adaptive(options);
  SchedulerRig rig(adaptive);
  for (int i = 0; i < 3; ++i) rig.push(1, 0, Operation::write, 700);
  EXPECT_EQ(rig.ask(milliseconds(0)), tokens(1, 3));
  rig.end(1, milliseconds(10));  // in the first quarter, which still carries out what was before
  rig.end(2, milliseconds(30));
  rig.end(2, milliseconds(31));  // ended before: does not count
  rig.end(3, milliseconds(40));
  EXPECT_EQ(rig.ask(milliseconds(90)), Tokens{});
  const Adaptive::Choice choice = adaptive.choices().at(0);
  EXPECT_EQ(choice.trials, 1u);
  EXPECT_EQ(choice.bytes, 1400u);
  EXPECT_EQ(choice.busy, milliseconds(15)) << "from 25 to 40 ms";
  EXPECT_EQ(choice.rate, std::nullopt);
}

TEST(Adaptive, ForwardersTryTheSameWindowsAtTheSameTime) {
  Bench one(four_servers(7), 1, best_at(milliseconds(8)));
  Bench other(four_servers(7), 2, best_at(milliseconds(8)));
  Bench third(four_servers(8), 3, best_at(milliseconds(8)));
  for (Bench* bench : {&one, &other, &third}) bench->bring(256);
  int same = 0;
  int same_as_third = 0;
  for (int slice = 0; slice < 4000; ++slice) {
    for (Bench* bench : {&one, &other, &third}) bench->run(milliseconds(10));
    same += one.adaptive.window() == other.adaptive.window() ? 1 : 0;
    same_as_third += one.adaptive.window() == third.adaptive.window() ? 1 : 0;
  }
  EXPECT_GT(same, 3800) << "they differ only where one notices a little later that a trial is over";
  EXPECT_LT(same_as_third, same) << "other dice";
}

TEST(Adaptive, DependsOnTimeAndSeedAlone) {
  std::vector<Adaptive::Choice> before;
  for (int repeat = 0; repeat < 2; ++repeat) {
    Bench bench(four_servers(3), 4, best_at(milliseconds(2)));
    bench.bring(64);
    bench.run(seconds(20));
    const std::vector<Adaptive::Choice> choices = bench.adaptive.choices();
    for (size_t i = 0; i < before.size(); ++i) {
      EXPECT_EQ(before[i].trials, choices[i].trials);
      EXPECT_EQ(before[i].bytes, choices[i].bytes);
      EXPECT_EQ(before[i].rate, choices[i].rate);
    }
    before = choices;
  }
}

TEST(Adaptive, WhoeverWaitsWaitsForNoEmptyWindow) {
  Adaptive::Options options = four_servers();
  options.windows = {milliseconds(8)};
  Adaptive adaptive(options);
  SchedulerRig rig(adaptive);
  EXPECT_EQ(rig.ask(milliseconds(0)), Tokens{});
  rig.push(1, 2);
  EXPECT_EQ(rig.ask(milliseconds(1)), Tokens{});
  EXPECT_EQ(adaptive.due(), milliseconds(16));
  adaptive.hurry();
  EXPECT_EQ(rig.ask(milliseconds(1)), Tokens{1});
}

// ---- bound on waiting --------------------------------------------------------------------------------------------

// If the window changes while a request waits, it waits for a round of the other one, too. No trial is shorter than
// that.
TEST(Adaptive, ARequestWaitsTwoRoundsOfTheLongestWindowAtMost) {
  for_seeds(20, [](uint64_t seed) {
    Dice dice(seed);
    Adaptive::Options options = four_servers(seed);
    options.twins.batch = 3;
    Adaptive adaptive(options);
    SchedulerRig rig(adaptive);
    std::map<uint64_t, Nanoseconds> latest;  // by token
    Nanoseconds now{0};
    const auto ask = [&] {
      now += Nanoseconds(dice.between(1, 100'000));
      for (const Tokens& batch : rig.ask_on(now)) {
        for (const uint64_t token : batch) {
          EXPECT_LE(now, latest.at(token)) << "request " << token;
          latest.erase(token);
          rig.end(token, now);
        }
      }
    };
    while (now < seconds(5)) {
      for (uint64_t count = dice.below(3); count > 0; --count) {
        const auto server = static_cast<uint32_t>(dice.below(4));
        // The engine always takes everything, so no request has to wait for those before it.
        latest[rig.push(1, server)] = now + 2 * milliseconds(4 * 32) + microseconds(200);
      }
      ask();
    }
    for (int step = 0; step < 10'000 && !latest.empty(); ++step) ask();
    EXPECT_TRUE(latest.empty()) << "nothing is forgotten";
  });
}

}  // namespace
}  // namespace tailrace::impl
