// Functions of dynamic libraries as actions: their arguments, and everything that they can do wrong.
#include <gtest/gtest.h>

#include "action_rig.hpp"

namespace tailrace::impl {
namespace {

using How = ActionEnd::How;

TEST(LibraryAction, GetsBlocksAndReports) {
  ActionRig rig({in_library("sums")});
  rig.config.actions[0].variables = {0};
  const EndedEvent ended =
      rig.run({rig.height(1, 4, 0.5), rig.height(1, 5, 1.5), rig.height(3, 5, 2), rig.counts(1, 5, 7)});
  ASSERT_EQ(ended.ends.size(), 1u) << rig.message();
  const ActionEnd& end = ended.ends[0];
  EXPECT_EQ(end.how, How::done) << rig.message();
  EXPECT_EQ(finding<std::string>(end, "event"), "storm");
  EXPECT_EQ(finding<double>(end, "iteration"), 5);
  EXPECT_EQ(finding<double>(end, "clients"), 1);
  using Numbers = std::vector<double>;
  EXPECT_EQ(finding<Numbers>(end, "height/4/1"), (Numbers{3, 2, 8}));
  EXPECT_EQ(finding<Numbers>(end, "height/5/1"), (Numbers{9, 2, 8}));
  EXPECT_EQ(finding<Numbers>(end, "height/5/3"), (Numbers{12, 2, 8}));
  EXPECT_EQ(end.findings.size(), 6u);
  EXPECT_EQ(end.messages, std::vector<std::string>{"sums are made"});
  EXPECT_TRUE(rig.failures.empty());
}

TEST(LibraryAction, KeepsItsStateBetweenCalls) {
  ActionRig rig({in_library("count"), in_library("count")});
  const EndedEvent first = rig.run({});
  const EndedEvent second = rig.run({});
  ASSERT_EQ(first.ends.size(), 2u);
  ASSERT_EQ(second.ends.size(), 2u);
  EXPECT_EQ(finding<double>(first.ends[0], "calls"), 1);
  EXPECT_EQ(finding<double>(first.ends[1], "calls"), 2);
  EXPECT_EQ(finding<double>(second.ends[1], "calls"), 4);
}

TEST(LibraryAction, AKeyGivenAgainReplacesItsValue) {
  ActionRig rig({in_library("reports_twice")});
  const EndedEvent ended = rig.run({});
  ASSERT_EQ(ended.ends.size(), 1u);
  EXPECT_EQ(ended.ends[0].findings.size(), 1u);
  EXPECT_EQ(finding<std::string>(ended.ends[0], "key"), "two");
}

struct WrongFunction {
  const char* function;
  const char* message;
};

class WrongLibraryAction : public testing::TestWithParam<WrongFunction> {};

// A failure is reported once with its cause; the action is disabled; the others continue.
TEST_P(WrongLibraryAction, IsToldAndDisabledAndTheOthersGoOn) {
  ActionRig rig({in_library(GetParam().function), in_library("sums")});
  const std::vector<HeldBlock> blocks = {rig.height(3, 5, 1)};
  const EndedEvent first = rig.run(blocks);
  ASSERT_EQ(first.ends.size(), 2u);
  EXPECT_EQ(first.ends[0].how, How::failed);
  EXPECT_EQ(first.ends[1].how, How::done);
  ASSERT_EQ(rig.failures.size(), 1u);
  EXPECT_EQ(rig.failures[0].action, 0u);
  EXPECT_TRUE(has(rig.message(), GetParam().message));
  EXPECT_TRUE(has(rig.message(), std::string("action '") + GetParam().function +
                                     "', event 'storm' of "
                                     "iteration 5: found "));
  const Fault& fault = rig.failures[0].status.fault();
  EXPECT_EQ(fault.code, TAILRACE_ACTION_FAILED);
  EXPECT_EQ(fault.iteration, 5);
  const EndedEvent second = rig.run(blocks, 6);
  ASSERT_EQ(second.ends.size(), 2u);
  EXPECT_EQ(second.ends[0].how, How::skipped);
  EXPECT_EQ(second.ends[1].how, How::done);
  EXPECT_EQ(rig.failures.size(), 1u);
  EXPECT_EQ(*rig.segment.at<double>(blocks[0].offset), 1) << "the data were changed";
}

INSTANTIATE_TEST_SUITE_P(All, WrongLibraryAction,
                         testing::Values(WrongFunction{"fails", "no storm in the data"},
                                         WrongFunction{"fails_in_silence", "status 7"},
                                         WrongFunction{"throws", "C++ exception 'no such storm'"},
                                         WrongFunction{"throws_a_number", "unknown type"},
                                         WrongFunction{"crashes", "killed by signal 11 (Segmentation fault)"},
                                         WrongFunction{"leaves", "ended with exit status 42"},
                                         WrongFunction{"leaves_a_child", "ended with exit status 1"},
                                         WrongFunction{"writes", "killed by signal 11 (Segmentation fault)"},
                                         WrongFunction{"reports_too_much", "expected at most 16777216"},
                                         WrongFunction{"reports_without_a_key", "a result without a key"},
                                         WrongFunction{"answers_wrongly", "an answer that was not requested"}),
                         [](const auto& of) { return std::string(of.param.function); });

TEST(LibraryAction, AHangingOneIsCutAtItsLimit) {
  ActionRig rig({in_library("hangs"), in_library("sums")});
  rig.config.actions[0].limit = std::chrono::seconds(5);
  rig.runner->start();
  // The call has begun, and by the clock that is all that happens.
  rig.runner->run(ActionRig::event(5), {rig.height(3, 5, 1)});
  rig.wait_until([&] { return rig.runner->deadline() == std::chrono::seconds(5); });
  rig.clock.advance(std::chrono::seconds(5));
  rig.wait_until([&] { return !rig.ended.empty(); });
  ASSERT_EQ(rig.failures.size(), 1u);
  EXPECT_TRUE(has(rig.message(), "found no end after 5 s"));
  ASSERT_EQ(rig.ended[0].ends.size(), 2u);
  EXPECT_EQ(rig.ended[0].ends[0].how, How::failed);
  EXPECT_EQ(rig.ended[0].ends[1].how, How::done);
}

TEST(LibraryAction, WhatItPrintsIsKeptUpToALimit) {
  ActionRig rig({in_library("prints_much"), in_library("fails")});
  const EndedEvent ended = rig.run({});
  ASSERT_EQ(ended.ends.size(), 2u);
  EXPECT_EQ(ended.ends[0].how, How::done);
  EXPECT_EQ(ended.ends[0].output.size(), kMostHostOutput);
  EXPECT_EQ(ended.ends[0].output.size() + ended.ends[0].output_cut, size_t{1} << 20);
  ASSERT_EQ(rig.failures.size(), 1u);
  EXPECT_EQ(rig.failures[0].output, "about to fail\n");
}

// The descriptor to sleep on must not stay readable.
TEST(LibraryAction, OneThatClosesItsOutputGoesOn) {
  ActionRig rig({in_library("closes_its_output")});
  for (int i = 0; i < 2; ++i) {
    const EndedEvent ended = rig.run({});
    EXPECT_EQ(ended.ends.at(0).how, How::done) << rig.message();
    pollfd wake{rig.runner->fd(), POLLIN, 0};
    EXPECT_EQ(::poll(&wake, 1, 0), 0);
  }
}

TEST(LibraryAction, WhatItSaysIsMadeText) {
  ActionRig rig({in_library("says_no_text")});
  const EndedEvent ended = rig.run({});
  ASSERT_EQ(ended.ends.size(), 1u);
  EXPECT_EQ(ended.ends[0].messages.at(0), "caf? ?[31m caf\u00e9 ??? \U0001f300??");
  EXPECT_EQ(finding<std::string>(ended.ends[0], "k?"), "v?");
  EXPECT_EQ(ended.ends[0].output, "?\n");
}

TEST(LibraryAction, WhatACrashPrintedBeforeIsTold) {
  ActionRig rig({in_library("crashes")});
  rig.run({});
  ASSERT_EQ(rig.failures.size(), 1u);
  EXPECT_EQ(rig.failures[0].output, "about to crash\n");
}

struct WrongLibrary {
  const char* name;
  const char* file;
  const char* function;
  const char* message;
};

class WrongLibraryFile : public testing::TestWithParam<WrongLibrary> {};

TEST_P(WrongLibraryFile, IsToldBeforeTheFirstEvent) {
  ActionRig rig({action_of(Action::Run::library, plugin_library(GetParam().file), GetParam().function)});
  rig.runner->start();
  rig.wait_until([&] { return !rig.failures.empty(); });
  EXPECT_TRUE(has(rig.message(), GetParam().message));
  EXPECT_TRUE(has(rig.message(), GetParam().file));
  const EndedEvent ended = rig.run({});
  ASSERT_EQ(ended.ends.size(), 1u);
  EXPECT_EQ(ended.ends[0].how, How::skipped);
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongLibraryFile,
    testing::Values(WrongLibrary{"missing", "libmissing.so", "sums", "found no library"},
                    WrongLibrary{"no_function", "libaction_plugin.so", "summs", "found no function 'summs'"},
                    WrongLibrary{"no_plugin", "libaction_no_plugin.so", "sums", "expected the line TAILRACE_PLUGIN"},
                    WrongLibrary{"later", "libaction_later_plugin.so", "sums", "found plugin ABI 99"}),
    [](const auto& of) { return std::string(of.param.name); });

}  // namespace
}  // namespace tailrace::impl
