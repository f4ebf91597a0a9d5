// EventTally: when an event is due, and for which clients.
#include "action/event_tally.hpp"

#include <gtest/gtest.h>

namespace tailrace::impl {
namespace {

using Scope = Action::Scope;
using Clients = std::vector<int32_t>;

std::vector<Action> actions(std::vector<std::pair<const char*, Scope>> list) {
  std::vector<Action> made;
  for (const auto& [event, scope] : list) {
    made.emplace_back();
    made.back().event = event;
    made.back().scope = scope;
  }
  return made;
}

TEST(EventTally, ScopeClientIsDueForEach) {
  EventTally tally(actions({{"storm", Scope::client}}));
  tally.join(0);
  tally.join(1);
  for (const int client : {1, 0, 1}) {
    const auto due = tally.raise(client, "storm", 7);
    ASSERT_EQ(due.size(), 1u);
    EXPECT_EQ(due[0].event, "storm");
    EXPECT_EQ(due[0].iteration, 7);
    EXPECT_EQ(due[0].scope, Scope::client);
    EXPECT_EQ(due[0].clients, Clients{client});
  }
  EXPECT_TRUE(tally.raise(0, "calm", 7).empty());
}

TEST(EventTally, ScopeNodeIsDueOnceWhenAllHaveRaisedIt) {
  EventTally tally(actions({{"storm", Scope::node}, {"storm", Scope::node}}));
  for (const int client : {4, 2, 3}) tally.join(client);
  EXPECT_TRUE(tally.raise(4, "storm", 7).empty());
  EXPECT_TRUE(tally.raise(4, "storm", 7).empty());
  EXPECT_TRUE(tally.raise(3, "storm", 8).empty());
  EXPECT_TRUE(tally.raise(2, "storm", 7).empty());
  const auto due = tally.raise(3, "storm", 7);
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].scope, Scope::node);
  EXPECT_EQ(due[0].clients, (Clients{2, 3, 4}));
  EXPECT_TRUE(tally.raise(4, "storm", 7).empty()) << "all over again";
}

TEST(EventTally, BothScopesOfOneEvent) {
  EventTally tally(actions({{"storm", Scope::node}, {"storm", Scope::client}}));
  tally.join(0);
  const auto due = tally.raise(0, "storm", 1);
  ASSERT_EQ(due.size(), 2u);
  EXPECT_EQ(due[0].scope, Scope::client);
  EXPECT_EQ(due[1].scope, Scope::node);
}

TEST(EventTally, WhoLeavesIsNotWaitedFor) {
  EventTally tally(actions({{"storm", Scope::node}}));
  for (const int client : {0, 1, 2}) tally.join(client);
  tally.raise(0, "storm", 1);
  tally.raise(1, "storm", 1);
  const auto due = tally.leave(2);
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].clients, (Clients{0, 1}));
  tally.raise(0, "storm", 2);
  EXPECT_EQ(tally.leave(1).size(), 1u);
  EXPECT_TRUE(tally.leave(0).empty());
}

TEST(Drops, IfOneIsBoundToTheEventAndScope) {
  std::vector<Action> bound = actions({{"calm", Scope::node}, {"storm", Scope::client}});
  bound[0].run = Action::Run::drop;
  EXPECT_TRUE(drops(bound, {"calm", 1, Scope::node, {}}));
  EXPECT_FALSE(drops(bound, {"calm", 1, Scope::client, {}}));
  EXPECT_FALSE(drops(bound, {"storm", 1, Scope::client, {}}));
}

TEST(EventTally, WhatIsForgottenIsNeverDue) {
  EventTally tally(actions({{"storm", Scope::node}}));
  tally.join(0);
  tally.join(1);
  tally.raise(0, "storm", 1);
  tally.forget(1);
  EXPECT_TRUE(tally.raise(1, "storm", 1).empty());
}

TEST(EventTally, ScopeNodeWaitsUntilAllHaveCome) {
  EventTally tally(actions({{"storm", Scope::node}}), 3);
  tally.join(0);
  EXPECT_TRUE(tally.raise(0, "storm", 1).empty());
  tally.join(1);
  EXPECT_TRUE(tally.raise(1, "storm", 1).empty());
  EXPECT_TRUE(tally.leave(0).empty()) << "it has come all the same";
  tally.join(2);
  const auto due = tally.raise(2, "storm", 1);
  ASSERT_EQ(due.size(), 1u);
  EXPECT_EQ(due[0].clients, (Clients{0, 1, 2}));
  EXPECT_TRUE(tally.past("storm", 1));
}

TEST(EventTally, WhoHadLeftBeforeHasCome) {
  EventTally tally(actions({{"storm", Scope::node}}), 2);
  tally.note_left(0);
  tally.join(1);
  EXPECT_EQ(tally.raise(1, "storm", 1).size(), 1u);
}

TEST(EventTally, WhatWasDueForTheNodeIsNotDueAgain) {
  EventTally tally(actions({{"storm", Scope::node}}));
  tally.join(0);
  EXPECT_EQ(tally.raise(0, "storm", 1).size(), 1u);
  tally.forget(1);
  EXPECT_TRUE(tally.past("storm", 1));
  EXPECT_TRUE(tally.raise(0, "storm", 1).empty());
  EXPECT_FALSE(tally.past("storm", 2));
}

TEST(EventTally, OfTooManyEventsTheLatestAreKnown) {
  const auto last = static_cast<int64_t>(EventTally::kPastKept);
  for (const bool backwards : {false, true}) {
    EventTally tally(actions({{"storm", Scope::node}}));
    tally.join(0);
    for (int64_t i = 0; i <= last; ++i) {
      const int64_t iteration = backwards ? last - i : i;
      EXPECT_EQ(tally.raise(0, "storm", iteration).size(), 1u);
      EXPECT_TRUE(tally.raise(0, "storm", iteration).empty()) << iteration << " is due once";
    }
    EXPECT_FALSE(tally.past("storm", backwards ? last : 0));
  }
}

TEST(EventTally, WhoComesAgainBeginsAgain) {
  EventTally tally(actions({{"storm", Scope::node}}));
  tally.join(0);
  EXPECT_EQ(tally.raise(0, "storm", 1).size(), 1u);
  tally.leave(0);
  tally.join(0);
  EXPECT_EQ(tally.raise(0, "storm", 1).size(), 1u);
}

TEST(EventTally, WhoPassesAnIterationIsNotWaitedForInIt) {
  EventTally tally(actions({{"storm", Scope::node}, {"calm", Scope::node}}));
  tally.join(0);
  tally.join(1);
  EXPECT_TRUE(tally.raise(0, "storm", 1).empty());
  EXPECT_TRUE(tally.raise(0, "calm", 1).empty());
  EXPECT_TRUE(tally.raise(0, "storm", 2).empty());
  EXPECT_EQ(tally.pass(1, 1).size(), 2u);
  EXPECT_EQ(tally.raise(1, "storm", 2).size(), 1u);
}

}  // namespace
}  // namespace tailrace::impl
