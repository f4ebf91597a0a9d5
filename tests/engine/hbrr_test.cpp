// Hbrr: which requests go together and in which order, against a plain model; and how many go before one at most.
#include "engine/schedule/hbrr.hpp"

#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "scheduler_rig.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

constexpr Nanoseconds kNow{0};
using Batches = std::vector<Tokens>;

TEST(Hbrr, QueuesGiveAQuantumEachInTurn) {
  Hbrr hbrr({.quantum = 2, .batch = 16});
  SchedulerRig rig(hbrr);
  for (int i = 0; i < 5; ++i) rig.push(7);  // 1 … 5
  for (int i = 0; i < 3; ++i) rig.push(8);  // 6 … 8
  EXPECT_EQ(rig.ask_on(kNow), (Batches{{1, 2}, {6, 7}, {3, 4}, {8}, {5}}));
  EXPECT_EQ(hbrr.due(), std::nullopt);
}

TEST(Hbrr, ReadsAndWritesOfAFileAreDifferentQueues) {
  Hbrr hbrr({.quantum = 2, .batch = 16});
  SchedulerRig rig(hbrr);
  for (int i = 0; i < 3; ++i) {
    rig.push(7);
    rig.push_read(7);
  }
  EXPECT_EQ(rig.ask_on(kNow), (Batches{{1, 3}, {2, 4}, {5}, {6}}));
}

TEST(Hbrr, AQueueThatIsAloneGoesOnUntilTheBatchIsFull) {
  Hbrr hbrr({.quantum = 8, .batch = 16});
  SchedulerRig rig(hbrr);
  for (int i = 0; i < 40; ++i) rig.push(7);
  EXPECT_EQ(rig.ask(kNow), tokens(1, 16));
  EXPECT_EQ(hbrr.due(), Nanoseconds::zero()) << "there are more: at once";
  EXPECT_EQ(rig.ask(kNow), tokens(17, 32));
  EXPECT_EQ(rig.ask(kNow), tokens(33, 40));
  EXPECT_EQ(hbrr.due(), std::nullopt);
}

TEST(Hbrr, AQuantumOutlastsABatch) {
  Hbrr hbrr({.quantum = 6, .batch = 4});
  SchedulerRig rig(hbrr);
  for (int i = 0; i < 7; ++i) rig.push(7);
  rig.push(8);
  EXPECT_EQ(rig.ask_on(kNow), (Batches{{1, 2, 3, 4}, {5, 6}, {8}, {7}}));
}

TEST(Hbrr, AnEmptyQueueComesBackAtTheEnd) {
  Hbrr hbrr({.quantum = 1, .batch = 16});
  SchedulerRig rig(hbrr);
  rig.push(7);
  rig.push(8);
  rig.push(9);
  EXPECT_EQ(rig.ask(kNow), Tokens{1});
  rig.push(7);
  EXPECT_EQ(rig.ask_on(kNow), (Batches{{2}, {3}, {4}}));
}

TEST(Hbrr, FencesPassAtOnceInTheirOrder) {
  Hbrr hbrr({.quantum = 2, .batch = 2});
  SchedulerRig rig(hbrr);
  for (int i = 0; i < 4; ++i) rig.push(7);
  rig.push_fence(8);
  rig.push_fence(6);
  EXPECT_EQ(hbrr.due(), Nanoseconds::zero());
  EXPECT_EQ(rig.ask(kNow), (Tokens{5, 6, 1, 2})) << "and count in no batch";
  EXPECT_EQ(rig.ask(kNow), (Tokens{3, 4}));
}

// ---- any program, against a model -------------------------------------------------------------------------------

// Keeps the ring as a list of names, and all requests in the order in which they came.
class HbrrModel {
 public:
  using Name = std::pair<FileId, Operation>;
  explicit HbrrModel(Hbrr::Options options) : options_(options) {}

  void push(uint64_t token, FileId file, Operation operation) {
    if (operation == Operation::sync) return fences_.push_back(token);
    const Name name(file, operation);
    if (waiting_[name].empty()) ring_.push_back(name);
    waiting_[name].push_back(token);
  }

  Tokens ask() {
    Tokens batch = std::exchange(fences_, {});
    if (ring_.empty()) return batch;
    const Name name = ring_.front();
    for (uint32_t count = 0; count < options_.batch && ring_.front() == name; ++count) {
      Tokens& of = waiting_[name];
      batch.push_back(of.front());
      of.erase(of.begin());
      ++given_;
      const bool over = given_ == options_.quantum;
      if (over || of.empty()) {
        ring_.erase(ring_.begin());
        given_ = 0;
        if (!of.empty()) ring_.push_back(name);
      }
      if (of.empty() || ring_.empty()) break;
    }
    return batch;
  }

  // Returns how many of other requests may go before one that is pushed now: those before it in its queue, and a
  // quantum of each other queue for each quantum of its own.
  uint64_t ahead(FileId file, Operation operation, uint64_t most_queues) {
    const uint64_t own = waiting_[Name(file, operation)].size();
    return own + (own / options_.quantum + 1) * options_.quantum * (most_queues - 1);
  }

 private:
  const Hbrr::Options options_;
  std::vector<Name> ring_;
  std::map<Name, Tokens> waiting_;
  Tokens fences_;
  uint32_t given_ = 0;  // of the first queue's quantum
};

void run(uint64_t seed) {
  Dice dice(seed);
  const Hbrr::Options options{static_cast<uint32_t>(dice.between(1, 6)), static_cast<uint32_t>(dice.between(1, 8))};
  const uint64_t files = dice.between(1, 5);
  Hbrr hbrr(options);
  HbrrModel model(options);
  SchedulerRig rig(hbrr);
  std::map<uint64_t, uint64_t> latest;  // by token: how many requests have gone before it at most
  uint64_t gone = 0;                    // requests that move bytes
  const auto ask = [&] {
    const Tokens batch = rig.ask(kNow);
    ASSERT_EQ(batch, model.ask());
    for (const uint64_t token : batch) {
      if (rig.of(token).is_fence()) continue;
      ASSERT_LE(gone, latest.at(token)) << "request " << token << " waited too long";
      ++gone;
    }
  };
  for (int step = 0; step < 400; ++step) {
    SCOPED_TRACE("step " + std::to_string(step));
    if (dice.chance(step % 100 < 50 ? 75 : 35)) {
      const auto file = static_cast<FileId>(dice.below(files));
      const Operation operation = dice.chance(8)    ? Operation::sync
                                  : dice.chance(50) ? Operation::read
                                                    : Operation::write;
      if (operation != Operation::sync) latest[rig.pushed() + 1] = gone + model.ahead(file, operation, 2 * files);
      model.push(rig.push(file, 0, operation), file, operation);
    } else {
      ask();
    }
    if (testing::Test::HasFatalFailure()) return;
  }
  while (hbrr.due()) {
    ask();
    if (testing::Test::HasFatalFailure()) return;
  }
  EXPECT_EQ(gone, latest.size()) << "nothing is forgotten";
}

TEST(Hbrr, AsTheModelDoesAndNobodyWaitsForMoreThanAQuantumOfEachOther) { for_seeds(200, run); }

}  // namespace
}  // namespace tailrace::impl
