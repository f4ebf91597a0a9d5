// Gather: which requests it holds back, and when they leave.
#include "engine/merge/gather.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace tailrace::impl {
namespace {

constexpr Nanoseconds kNow{1000};

class Rig {
 public:
  explicit Rig(const GatherOptions& options = {}) : gather(options) {}

  void put(uint64_t bytes = 100, Operation operation = Operation::write, Nanoseconds now = kNow, FileId file = 1) {
    Request& request = requests.emplace_back();
    request.operation = operation;
    request.file = file;
    request.pieces = {{{0, bytes}, nullptr}};
    if (!gather.put(&request, now)) ++not_taken;
  }
  size_t leave(Nanoseconds now = kNow) {
    std::vector<const Request*> leaving;
    gather.take(now, leaving);
    return leaving.size();
  }

  size_t not_taken = 0;
  Gather gather;
  std::deque<Request> requests;
};

TEST(Gather, ALoneWriteLeavesAtOnce) {
  Rig rig;
  rig.put();
  EXPECT_EQ(rig.leave(), 1u);
}

TEST(Gather, SmallWritesWaitForThoseUnderWay) {
  Rig rig;
  rig.put();
  EXPECT_EQ(rig.leave(), 1u);
  rig.gather.began(1, false);
  for (int i = 0; i < 5; ++i) rig.put();
  EXPECT_EQ(rig.leave(), 0u);
  rig.gather.ended(1);
  EXPECT_EQ(rig.leave(), 5u);
  EXPECT_TRUE(rig.gather.empty());
}

TEST(Gather, ReadsAndLargeWritesDoNotWait) {
  Rig rig;
  rig.gather.began(1, true);
  rig.put(100, Operation::read);
  rig.put(uint64_t{1} << 20);
  rig.put();
  EXPECT_EQ(rig.not_taken, 2u);
  EXPECT_EQ(rig.leave(), 0u);
}

TEST(Gather, WhatIsWaitedForLeaves) {
  Rig rig;
  rig.gather.began(1, true);
  rig.put();
  rig.gather.impatient(1);
  EXPECT_EQ(rig.leave(), 1u);
  rig.put();
  EXPECT_EQ(rig.leave(), 1u);
  rig.gather.patient(1);
  rig.put();
  EXPECT_EQ(rig.leave(), 0u);
}

TEST(Gather, SoManyOrSoMuchLeaves) {
  Rig rig({.count = 3, .bytes = 1000});
  rig.gather.began(1, true);
  rig.put();
  rig.put();
  EXPECT_EQ(rig.leave(), 0u);
  rig.put();
  EXPECT_EQ(rig.leave(), 3u);
  rig.gather.began(1, true);
  rig.put(999);
  EXPECT_EQ(rig.leave(), 0u);
  rig.put(1);
  EXPECT_EQ(rig.leave(), 2u);
}

TEST(Gather, WhereNothingIsJoinedNothingIsHeld) {
  Rig rig;
  rig.gather.began(1, true);
  rig.put();
  rig.put();
  rig.gather.ended(1);
  EXPECT_EQ(rig.leave(), 2u);
  rig.gather.began(1, false);
  rig.gather.began(1, false);
  rig.put();
  EXPECT_EQ(rig.leave(), 1u);
  rig.gather.began(1, true);
  rig.put();
  EXPECT_EQ(rig.leave(), 0u);
}

TEST(Gather, ADelayHoldsThemWhateverIsUnderWay) {
  Rig rig({.delay = Nanoseconds(500)});
  rig.put();
  rig.put(100, Operation::write, kNow + Nanoseconds(100));
  EXPECT_EQ(rig.leave(kNow + Nanoseconds(499)), 0u);
  EXPECT_EQ(rig.gather.due(), kNow + Nanoseconds(500));
  EXPECT_EQ(rig.leave(kNow + Nanoseconds(500)), 2u);
  EXPECT_FALSE(rig.gather.due());
}

TEST(Gather, ADelayIsForVerySmallWrites) {
  Rig rig({.delay = Nanoseconds(500), .very_small = 200});
  rig.put(200);
  EXPECT_FALSE(rig.gather.due());
  EXPECT_EQ(rig.leave(), 1u);
  rig.gather.began(1, false);
  rig.put(200);
  EXPECT_FALSE(rig.gather.due());
  EXPECT_EQ(rig.leave(kNow + Nanoseconds(1000)), 0u) << "one is under way";
  rig.put(100, Operation::write, kNow + Nanoseconds(1000));
  EXPECT_EQ(rig.gather.due(), kNow + Nanoseconds(500)) << "very small on the average";
  EXPECT_EQ(rig.leave(kNow + Nanoseconds(1000)), 2u);
}

TEST(Gather, ADelayHoldsNothingWhereNothingIsJoined) {
  Rig rig({.delay = Nanoseconds(500)});
  rig.put();
  rig.put();
  EXPECT_EQ(rig.leave(kNow + Nanoseconds(500)), 2u);
  rig.gather.began(1, false);
  rig.gather.began(1, false);
  rig.put();
  EXPECT_EQ(rig.leave(), 1u);
}

TEST(Gather, OfFilesLikeOthersItIsKnownWhetherItPays) {
  Rig rig({.delay = Nanoseconds(500)});
  for (const FileId file : {1, 2}) {
    rig.gather.opened_like_others(file);
    rig.put(100, Operation::write, kNow, file);
    rig.put(100, Operation::write, kNow, file);
    EXPECT_EQ(rig.leave(), file == 1 ? 0u : 2u);
    EXPECT_EQ(rig.leave(kNow + Nanoseconds(500)), file == 1 ? 2u : 0u);
    rig.gather.began(file, false);
    rig.gather.ended(file);
    rig.gather.forget(file);
  }
  rig.put(100, Operation::write, kNow, 3);
  EXPECT_EQ(rig.leave(), 0u) << "a file of another kind";
}

TEST(Gather, ByCountAlone) {
  Rig rig({.count = 4, .by_count = true});
  for (int i = 0; i < 3; ++i) rig.put();
  EXPECT_EQ(rig.leave(), 0u);
  for (int i = 0; i < 6; ++i) rig.put();
  EXPECT_EQ(rig.leave(), 4u);
  EXPECT_EQ(rig.leave(), 4u);
  EXPECT_EQ(rig.leave(), 0u);
  rig.gather.impatient(1);
  EXPECT_EQ(rig.leave(), 1u);
}

TEST(Gather, InAHurryNothingIsHeldOnce) {
  Rig rig({.count = 4, .by_count = true});
  rig.put();
  rig.gather.hurry();
  EXPECT_EQ(rig.leave(), 1u);
  rig.put();
  EXPECT_EQ(rig.leave(), 0u);
}

}  // namespace
}  // namespace tailrace::impl
