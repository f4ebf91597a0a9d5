// ActionRunner: order, scopes, hosts, and the built-in functions.
#include <gtest/gtest.h>

#include "action/find_plugin_host.hpp"
#include "action_rig.hpp"

namespace tailrace::impl {
namespace {

using How = ActionEnd::How;

Action builtin(Action::Run run, const char* text) { return action_of(run, "", text); }

TEST(ActionRunner, EventsAndActionsRunInOrder) {
  Action other_event = in_library("count");
  other_event.event = "calm";
  Action other_scope = in_library("count");
  other_scope.scope = Action::Scope::node;
  ActionRig rig({in_library("count"), builtin(Action::Run::store, "store"), other_event, other_scope,
                 builtin(Action::Run::statistics, "statistics"), in_library("count")});
  std::vector<uint64_t> numbers;
  for (int64_t iteration = 0; iteration < 10; ++iteration) {
    numbers.push_back(rig.runner->run(ActionRig::event(iteration), {}));
  }
  rig.wait_until([&] { return rig.ended.size() == 10; });
  EXPECT_TRUE(rig.runner->idle());
  for (size_t i = 0; i < rig.ended.size(); ++i) {
    EXPECT_EQ(rig.ended[i].number, numbers[i]);
    EXPECT_EQ(rig.ended[i].event.iteration, static_cast<int64_t>(i));
    ASSERT_EQ(rig.ended[i].ends.size(), 3u);
    EXPECT_EQ(rig.ended[i].ends[0].action, 0u);
    EXPECT_EQ(rig.ended[i].ends[1].action, 4u);
    EXPECT_EQ(rig.ended[i].ends[2].action, 5u);
    EXPECT_EQ(finding<double>(rig.ended[i].ends[0], "calls"), 2.0 * static_cast<double>(i) + 1);
    EXPECT_EQ(finding<double>(rig.ended[i].ends[2], "calls"), 2.0 * static_cast<double>(i) + 2);
  }
}

TEST(ActionRunner, AnEventWithoutCallsEndsAtOnce) {
  ActionRig rig({builtin(Action::Run::store, "store"), builtin(Action::Run::drop, "drop")});
  const EndedEvent ended = rig.run({});
  EXPECT_EQ(ended.event.event, "storm");
  EXPECT_TRUE(ended.ends.empty());
}

TEST(ActionRunner, StatisticsOfEachBlockOfTheIteration) {
  ActionRig rig({builtin(Action::Run::statistics, "statistics")});
  const HeldBlock height = rig.height(2, 5, 1);
  rig.segment.at<double>(height.offset)[0] = 7;
  const EndedEvent ended = rig.run({rig.height(2, 4, 9), height, rig.counts(3, 5, -2)});
  ASSERT_EQ(ended.ends.size(), 1u);
  const ActionEnd& end = ended.ends[0];
  ASSERT_EQ(end.how, How::done) << rig.message();
  EXPECT_EQ(finding<double>(end, "height/2/min"), 1);
  EXPECT_EQ(finding<double>(end, "height/2/mean"), 2);
  EXPECT_EQ(finding<double>(end, "height/2/max"), 7);
  EXPECT_EQ(finding<double>(end, "counts/3/max"), -2);
  EXPECT_EQ(finding<std::vector<double>>(end, "height/2/histogram").at(0), 5);
  EXPECT_EQ(end.findings.size(), 14u);
}

TEST(ActionRunner, WithoutAHostEveryActionIsDisabledAndTold) {
  ActionRig rig({in_library("count"), builtin(Action::Run::store, "store"), in_library("sums")});
  rig.make_runner("/nowhere/tailrace-plugin-host");
  rig.runner->start();
  rig.wait_until([&] { return rig.failures.size() == 2; });
  EXPECT_TRUE(has(rig.message(), "action 'count': found no plugin host: start '/nowhere/tailrace-plugin-host'"));
  EXPECT_TRUE(has(rig.message(1), "action 'sums'"));
  const EndedEvent ended = rig.run({});
  ASSERT_EQ(ended.ends.size(), 2u);
  EXPECT_EQ(ended.ends[1].how, How::skipped);
}

// A program that is not a plugin host ends before it has answered.
TEST(ActionRunner, WhatIsNoHostIsTold) {
  ActionRig rig({in_library("count")});
  rig.make_runner("/bin/false");
  rig.runner->start();
  rig.wait_until([&] { return rig.failures.size() == 1; });
  EXPECT_TRUE(has(rig.message(), "ended with exit status 1"));
}

TEST(ActionRunner, ABlockOutsideOfItsSegmentIsRefused) {
  ActionRig rig({in_library("sums")});
  HeldBlock block = rig.height(0, 5, 1);
  block.offset = rig.segment.bytes() - 8;
  const EndedEvent ended = rig.run({block});
  EXPECT_EQ(ended.ends.at(0).how, How::failed);
  EXPECT_TRUE(has(rig.message(), "expected it in 1048576 bytes"));
}

// More segments than a socket takes at once, and more than any message could carry.
TEST(ActionRunner, ManySegments) {
  constexpr uint32_t many = 300;
  ActionRig rig({in_library("sums")});
  rig.runner->start();
  for (uint32_t i = 2; i < many; ++i) {
    ASSERT_TRUE(rig.runner->add_segment(i, rig.segment.fd(), rig.segment.bytes()).ok());
  }
  std::vector<HeldBlock> blocks;
  for (uint32_t i = 1; i < many; ++i) {
    blocks.push_back(i == 1 ? rig.height(0, 5, 1) : blocks[0]);
    blocks.back().segment = i;
    blocks.back().source = static_cast<int>(i);
  }
  const EndedEvent ended = rig.run(blocks);
  EXPECT_EQ(ended.ends.at(0).how, How::done) << rig.message();
  EXPECT_EQ(ended.ends.at(0).findings.size(), 3u + many - 1);
}

// After a crash a file's host starts anew: with all segments, and with the functions that are left.
TEST(ActionRunner, AfterACrashAFreshHostHasForgottenAll) {
  ActionRig rig({in_library("count"), in_library("crashes"), in_library("count"), in_library("sums")});
  const EndedEvent ended = rig.run({rig.height(0, 5, 1)});
  ASSERT_EQ(ended.ends.size(), 4u);
  EXPECT_EQ(finding<double>(ended.ends[0], "calls"), 1);
  EXPECT_EQ(ended.ends[1].how, How::failed);
  EXPECT_EQ(finding<double>(ended.ends[2], "calls"), 1);
  EXPECT_EQ(finding<std::vector<double>>(ended.ends[3], "height/5/0").at(0), 6);
}

TEST(FindPluginHost, BesideTheProgramOrAllPlacesAreNamed) {
  const std::string host = TEST_HOST;
  const auto found = find_plugin_host(host.substr(0, host.rfind('/')));
  ASSERT_TRUE(found.ok());
  EXPECT_EQ(found.value(), host);
  const auto missing = find_plugin_host("/nowhere/bin");
  ASSERT_FALSE(missing.ok());
  EXPECT_EQ(missing.status().code(), TAILRACE_NOT_FOUND);
  EXPECT_TRUE(has(missing.status().fault().message, "/nowhere/bin/../libexec/tailrace/tailrace-plugin-host"));
}

TEST(ActionRunner, StopsItsHosts) {
  ActionRig rig({in_library("count"), builtin(Action::Run::statistics, "statistics")});
  rig.run({});
  rig.runner->stop();
  rig.wait_until([&] { return rig.runner->stopped(); });
  EXPECT_TRUE(rig.failures.empty()) << rig.message();
}

// The limit ends hosts that do not end by themselves; here they never started.
TEST(ActionRunner, CanBeStoppedBeforeAnythingIsLoaded) {
  ActionRig rig({in_library("count")});
  rig.runner->start();
  rig.runner->stop();
  EXPECT_TRUE(rig.runner->stopped());
}

}  // namespace
}  // namespace tailrace::impl
