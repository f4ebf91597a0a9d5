// Twins: in which windows requests leave, against a plain model in simulated time; that forwarders do not crowd; and
// how long a request waits at most, even if the engine asks at bad times.
#include "engine/schedule/twins.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "scheduler_rig.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

using std::chrono::milliseconds;
using Batches = std::vector<Tokens>;

Twins::Options four_servers(uint32_t forwarder = 0, uint32_t batch = 16) {
  Twins::Options options;
  options.forwarder = forwarder;
  options.servers = 4;
  options.window = milliseconds(8);
  options.batch = batch;
  return options;
}

TEST(Twins, EachServerHasAWindowInTurn) {
  Twins twins(four_servers());
  SchedulerRig rig(twins);
  for (uint32_t server = 0; server < 4; ++server) rig.push(1, server);
  for (uint32_t server = 0; server < 4; ++server) {
    EXPECT_EQ(rig.ask(milliseconds(8 * server)), Tokens{server + 1});
    EXPECT_EQ(rig.ask(milliseconds(8 * server) + milliseconds(8) - Nanoseconds(1)), Tokens{});
  }
  EXPECT_EQ(twins.due(), std::nullopt);
}

TEST(Twins, AWindowIsWaitedOutThoughOthersWait) {
  Twins twins(four_servers());
  SchedulerRig rig(twins);
  rig.push(1, 2);
  EXPECT_EQ(rig.ask(milliseconds(3)), Tokens{});
  EXPECT_EQ(twins.due(), milliseconds(16)) << "when its window begins";
  rig.push(1, 0);
  EXPECT_EQ(rig.ask(milliseconds(5)), Tokens{2}) << "the window is still open";
  EXPECT_EQ(rig.ask(milliseconds(8)), Tokens{});
  EXPECT_EQ(rig.ask(milliseconds(16)), Tokens{1});
}

TEST(Twins, ForwardersVisitInDifferentOrders) {
  std::vector<std::unique_ptr<Twins>> all;
  std::deque<SchedulerRig> rigs;
  for (uint32_t forwarder = 0; forwarder < 4; ++forwarder) {
    all.push_back(std::make_unique<Twins>(four_servers(forwarder)));
    rigs.emplace_back(*all.back());
    for (uint32_t server = 0; server < 4; ++server) rigs.back().push(1, server);
  }
  for (uint32_t turn = 0; turn < 4; ++turn) {
    for (uint32_t forwarder = 0; forwarder < 4; ++forwarder) {
      EXPECT_EQ(rigs[forwarder].ask(milliseconds(8 * turn)), Tokens{(forwarder + turn) % 4 + 1});
    }
  }
}

TEST(Twins, TheServersAreLearntFromRequests) {
  Twins::Options options = four_servers();
  options.servers = 0;
  Twins twins(options);
  SchedulerRig rig(twins);
  rig.push(1, 0);
  EXPECT_EQ(rig.ask(milliseconds(9)), Tokens{1}) << "one server needs no turns";
  EXPECT_EQ(twins.servers(), 1u);
  rig.push(1, 2);
  EXPECT_EQ(twins.servers(), 3u);
  EXPECT_EQ(rig.ask(milliseconds(9)), Tokens{});
  EXPECT_EQ(twins.due(), milliseconds(16));
}

TEST(Twins, NumbersBeyondTheLastServerShareItsQueues) {
  Twins twins(four_servers());
  SchedulerRig rig(twins);
  rig.push(1, 5);
  EXPECT_EQ(twins.servers(), 4u);
  EXPECT_EQ(rig.ask(milliseconds(8)), Tokens{1});
  Twins::Options options = four_servers();
  options.servers = 0;
  Twins many(options);
  SchedulerRig far(many);
  far.push(1, UINT32_MAX);
  EXPECT_EQ(many.servers(), Twins::kMostServers);
}

TEST(Twins, ABatchIsBounded) {
  Twins twins(four_servers(0, 2));
  SchedulerRig rig(twins);
  for (int i = 0; i < 5; ++i) rig.push(1, 0);
  EXPECT_EQ(rig.ask(milliseconds(1)), tokens(1, 2));
  EXPECT_EQ(twins.due(), milliseconds(0)) << "at once: the window is open";
  EXPECT_EQ(rig.ask(milliseconds(1)), tokens(3, 4));
  EXPECT_EQ(rig.ask(milliseconds(8)), Tokens{});
  EXPECT_EQ(twins.due(), milliseconds(32));
  EXPECT_EQ(rig.ask(milliseconds(32)), Tokens{5});
}

TEST(Twins, FencesPassAtOnceInTheirOrder) {
  Twins twins(four_servers(0, 1));
  SchedulerRig rig(twins);
  rig.push(1, 0);
  rig.push(1, 0);
  rig.push_fence(2);
  rig.push_fence(1);
  EXPECT_EQ(twins.due(), milliseconds(0));
  EXPECT_EQ(rig.ask(milliseconds(1)), (Tokens{3, 4, 1}));
}

TEST(Twins, AfterIdlingTheWindowIsThatOfTheTime) {
  Twins twins(four_servers());
  SchedulerRig rig(twins);
  rig.push(1, 0);
  EXPECT_EQ(rig.ask(milliseconds(0)), Tokens{1});
  EXPECT_EQ(twins.due(), std::nullopt);
  rig.push(1, 0);
  rig.push(1, 3);
  EXPECT_EQ(rig.ask(milliseconds(32'000'000 + 24)), Tokens{3});
  EXPECT_EQ(twins.due(), milliseconds(32'000'000 + 32));
}

TEST(Twins, WindowsBeginAtTheOrigin) {
  Twins::Options options = four_servers();
  options.origin = milliseconds(1003);
  Twins twins(options);
  SchedulerRig rig(twins);
  rig.push(1, 0);
  EXPECT_EQ(rig.ask(milliseconds(1000)), Tokens{}) << "the window before is the last server's";
  EXPECT_EQ(twins.due(), milliseconds(1003));
  EXPECT_EQ(rig.ask(milliseconds(1003)), Tokens{1});
}

TEST(Twins, WhoeverWaitsWaitsForNoEmptyWindow) {
  Twins twins(four_servers(1));  // visits 1 2 3 0
  SchedulerRig rig(twins);
  rig.push(1, 0);
  rig.push(1, 3);
  EXPECT_EQ(rig.ask(milliseconds(1)), Tokens{});
  twins.hurry();
  EXPECT_EQ(twins.due(), milliseconds(0));
  EXPECT_EQ(rig.ask_on(milliseconds(1)), (Batches{{2}, {1}})) << "in the order of its visits";
  rig.push(1, 3);
  rig.push(1, 1);
  EXPECT_EQ(rig.ask(milliseconds(2)), Tokens{4}) << "a server with requests keeps its window";
  EXPECT_EQ(rig.ask(milliseconds(2)), Tokens{3}) << "what comes within the round does not wait, either";
  rig.push(1, 3);
  EXPECT_EQ(rig.ask(milliseconds(1 + 32)), Tokens{}) << "after a round windows are waited out again";
  EXPECT_EQ(twins.due(), milliseconds(48));
}

TEST(Twins, AnotherWindowCountsAtOnce) {
  Twins twins(four_servers());
  SchedulerRig rig(twins);
  rig.push(1, 2);
  EXPECT_EQ(rig.ask(milliseconds(1)), Tokens{});
  EXPECT_EQ(twins.due(), milliseconds(16));
  twins.set_window(milliseconds(1));
  EXPECT_EQ(twins.due(), milliseconds(0));
  EXPECT_EQ(rig.ask(milliseconds(1)), Tokens{});
  EXPECT_EQ(twins.due(), milliseconds(2));
  EXPECT_EQ(rig.ask(milliseconds(2)), Tokens{1});
}

TEST(Twins, WithoutWindowsRequestsLeaveAsTheyCame) {
  Twins twins(four_servers(0, 3));
  SchedulerRig rig(twins);
  for (const uint32_t server : {3U, 1U, 2U, 0U}) rig.push(1, server);
  EXPECT_EQ(rig.ask(milliseconds(1)), Tokens{4});
  twins.set_window(Nanoseconds::zero());
  EXPECT_EQ(twins.due(), milliseconds(0));
  rig.push(1, 0);
  rig.push(1, 1);
  EXPECT_EQ(rig.ask_on(milliseconds(1)), (Batches{{2, 3, 1}, {5, 6}})) << "held ones first";
  twins.set_window(milliseconds(2));
  rig.push(1, 1);
  EXPECT_EQ(rig.ask(milliseconds(1)), Tokens{});
  EXPECT_EQ(rig.ask(milliseconds(2)), Tokens{7});
}

// ---- any program, against a model -------------------------------------------------------------------------------

// Remembers every request, and looks for those that may go from the beginning each time.
class TwinsModel {
 public:
  explicit TwinsModel(const Twins::Options& options) : options_(options), servers_(std::max(options.servers, 1U)) {}

  void push(uint64_t token, uint32_t server) {
    waiting_.push_back({token, server});
    if (options_.servers == 0) servers_ = std::max(servers_, server + 1);
  }
  void push_fence(uint64_t token) { fences_.push_back(token); }
  void hurry() { hurry_ = true; }

  // Returns what goes together. It knows nothing of queues that lose patience.
  Tokens ask(int64_t now) {
    Tokens batch;
    batch.swap(fences_);
    if (hurry_) hurried_until_ = now + options_.window.count() * servers_;
    hurry_ = false;
    const int64_t windows = now < hurried_until_ ? servers_ : 1;
    for (int64_t ahead = 0; ahead < windows; ++ahead) {
      const size_t before = batch.size();
      take(ServerOrder(options_.forwarder, servers_).at(now / options_.window.count() + ahead), batch);
      if (batch.size() > before) break;
    }
    return batch;
  }
  // Returns true if something may go at that time.
  bool would_give(int64_t now) const {
    TwinsModel copy = *this;
    return !copy.ask(now).empty();
  }
  bool is_empty() const { return waiting_.empty() && fences_.empty(); }
  uint32_t servers() const { return servers_; }

 private:
  struct Waiting {
    uint64_t token;
    uint32_t server;
  };

  void take(uint32_t server, Tokens& batch) {
    uint32_t count = 0;
    std::erase_if(waiting_, [&](const Waiting& waiting) {
      if (waiting.server != server || count == options_.batch) return false;
      ++count;
      batch.push_back(waiting.token);
      return true;
    });
  }

  Twins::Options options_;
  uint32_t servers_;
  std::vector<Waiting> waiting_;
  Tokens fences_;
  bool hurry_ = false;
  int64_t hurried_until_ = -1;
};

void run(uint64_t seed) {
  Dice dice(seed);
  Twins::Options options;
  options.servers = static_cast<uint32_t>(dice.below(6));
  options.forwarder = static_cast<uint32_t>(dice.below(20));
  options.batch = static_cast<uint32_t>(dice.between(1, 6));
  options.window = Nanoseconds(dice.between(1, 3000));
  const uint64_t most_server = options.servers > 0 ? options.servers : dice.between(1, 6);
  Twins twins(options);
  TwinsModel model(options);
  SchedulerRig rig(twins);
  int64_t now = 0;
  for (int step = 0; step < 500; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    const uint64_t kind = dice.below(100);
    if (kind < 50) {
      const auto server = static_cast<uint32_t>(dice.below(most_server));
      model.push(rig.push(1, server), server);
    } else if (kind < 53) {
      model.push_fence(rig.push_fence(1));
    } else if (kind < 55) {
      twins.hurry();
      model.hurry();
    } else {
      // All time in this test is shorter than a queue's patience, so that none gives a batch out of turn.
      if (dice.chance(50)) now += static_cast<int64_t>(dice.below(4000));
      ASSERT_EQ(rig.ask(Nanoseconds(now)), model.ask(now));
      ASSERT_EQ(twins.servers(), model.servers());
    }
  }
  // All that is due comes then, and nothing would have come before.
  rig.ask_on(Nanoseconds(now));
  while (!model.ask(now).empty()) {
  }
  while (const std::optional<Nanoseconds> due = twins.due()) {
    ASSERT_GT(due->count(), now);
    EXPECT_FALSE(model.would_give(due->count() - 1));
    now = due->count();
    EXPECT_TRUE(model.would_give(now));
    while (model.would_give(now)) {
      ASSERT_EQ(rig.ask(Nanoseconds(now)), model.ask(now));
    }
  }
  EXPECT_TRUE(model.is_empty()) << "nothing is forgotten";
}

TEST(Twins, AsTheModelDoes) { for_seeds(300, run); }

// ---- bounds on waiting -------------------------------------------------------------------------------------------

// A program that pushes, and an engine that asks, at times that `gap` draws. Returns nothing, but fails if a request
// with k others of its server before it waits longer than `bound(k)`.
template <class Gap, class Bound>
void expect_bounded(uint64_t seed, const Twins::Options& options, Gap gap, Bound bound) {
  Dice dice(seed);
  Twins twins(options);
  SchedulerRig rig(twins);
  std::map<uint64_t, Nanoseconds> latest;  // by token
  std::map<uint32_t, uint64_t> waiting;    // by server
  Nanoseconds now{0};
  const auto ask = [&] {
    now += gap(dice);
    for (const uint64_t token : rig.ask(now)) {
      EXPECT_LE(now, latest.at(token)) << "request " << token;
      latest.erase(token);
      --waiting[rig.of(token).server];
    }
  };
  for (int step = 0; step < 300; ++step) {
    for (uint64_t count = dice.below(6); count > 0; --count) {
      const auto server = static_cast<uint32_t>(dice.chance(60) ? 0 : dice.below(options.servers));
      const Nanoseconds longest = bound(waiting[server]++);
      latest[rig.push(1, server)] = now + longest;
    }
    ask();
  }
  for (int step = 0; step < 100'000 && !latest.empty(); ++step) ask();
  EXPECT_TRUE(latest.empty()) << "nothing is forgotten";
}

// An engine that is hungry in each window: a queue gives a batch in every round.
TEST(TwinsBounds, ARequestWaitsARoundForEachBatchBeforeIt) {
  for_seeds(50, [](uint64_t seed) {
    const Twins::Options options = four_servers(static_cast<uint32_t>(seed % 7), 3);
    expect_bounded(
        seed, options, [](Dice& dice) { return Nanoseconds(dice.between(1, 8'000'000)); },
        [&](uint64_t before) {
          return milliseconds(32) * static_cast<int64_t>(before / options.batch + 1) + options.window;
        });
  });
}

// An engine that is hungry once a round, always in the window of one server: the others have theirs never.
TEST(TwinsBounds, NoServerStarvesIfTheEngineAsksInTheWindowsOfAnother) {
  for (const int rounds : {1, 2, 5}) {
    for_seeds(10, [rounds](uint64_t seed) {
      const Twins::Options options = four_servers(0, 3);
      const Nanoseconds period = milliseconds(32) * rounds;
      expect_bounded(
          seed, options, [period](Dice&) { return period; },
          [&](uint64_t before) {
            const Nanoseconds patience = milliseconds(100);
            return (patience + 2 * (options.window + period) + options.servers * period) *
                   static_cast<int64_t>(before / options.batch + 1);
          });
    });
  }
}

}  // namespace
}  // namespace tailrace::impl
