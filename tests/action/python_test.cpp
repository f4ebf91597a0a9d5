// Python functions as actions: their arguments, and everything that they can do wrong.
#include <gtest/gtest.h>

#include "action_rig.hpp"

namespace tailrace::impl {
namespace {

using How = ActionEnd::How;

// With NumPy, from the environment that setup.sh makes.
class PythonAction : public testing::Test {
 protected:
  void SetUp() override {
    const std::string packages = TEST_PYTHON_ENVIRONMENT "/lib/python" TEST_PYTHON_VERSION "/site-packages/numpy";
    if (!std::filesystem::is_directory(packages)) GTEST_SKIP() << "no " << packages;
  }
};

TEST_F(PythonAction, GetsViewsAndReturnsResults) {
  ActionRig rig({in_python("sums")});
  const EndedEvent ended = rig.run({rig.height(1, 4, 0.5), rig.height(1, 5, 1.5), rig.counts(3, 5, 7)});
  ASSERT_EQ(ended.ends.size(), 1u);
  const ActionEnd& end = ended.ends[0];
  ASSERT_EQ(end.how, How::done) << rig.message();
  using Numbers = std::vector<double>;
  EXPECT_EQ(finding<std::string>(end, "event"), "storm");
  EXPECT_EQ(finding<double>(end, "iteration"), 5);
  EXPECT_EQ(finding<Numbers>(end, "clients"), Numbers{3});
  EXPECT_EQ(finding<Numbers>(end, "height/4/1"), (Numbers{3, 2, 8}));
  EXPECT_EQ(finding<Numbers>(end, "height/5/1"), (Numbers{9, 2, 8}));
  EXPECT_EQ(finding<Numbers>(end, "counts/5/3"), (Numbers{28, 0, 4}));
  EXPECT_EQ(finding<std::string>(end, "height/5/1/type"), "float64 (2, 3) m");
  EXPECT_EQ(finding<std::string>(end, "counts/5/3/type"), "int32 (4,) 1");
  EXPECT_EQ(end.output, "sums are made\n");
}

TEST_F(PythonAction, EveryElementType) {
  ActionRig rig({in_python("sums")});
  for (int i = 0; i <= static_cast<int>(ElementType::long_double); ++i) {
    const auto type = static_cast<ElementType>(i);
    rig.config.layouts[0].type = type;
    HeldBlock block = rig.height(0, 5, 0);  // the type's zeros are zeros
    const EndedEvent ended = rig.run({block});
    ASSERT_EQ(ended.ends.size(), 1u);
    ASSERT_EQ(ended.ends[0].how, How::done) << rig.message();
    const std::string name = type == ElementType::long_double ? "float128" : name_of(type);
    EXPECT_EQ(finding<std::string>(ended.ends[0], "height/5/0/type"), name + " (2, 3) m");
  }
}

// The list alone has the 16 MiB that an answer may have.
TEST_F(PythonAction, MoreResultsThanAnAnswerHasAreRefusedAndTheNextCallIsMade) {
  ActionRig rig({in_python("returns_too_much"), in_python("returns_numbers")});
  for (int call = 0; call < 2; ++call) {
    const EndedEvent ended = rig.run({});
    ASSERT_EQ(ended.ends.size(), 2u);
    EXPECT_NE(ended.ends[0].how, How::done);
    EXPECT_TRUE(ended.ends[0].findings.empty());
    EXPECT_EQ(ended.ends[1].how, How::done);
  }
  EXPECT_NE(rig.message().find("bytes of results, expected at most 16777216"), std::string::npos) << rig.message();
}

TEST_F(PythonAction, AllKindsOfResults) {
  ActionRig rig({in_python("returns_numbers"), in_python("nothing")});
  const EndedEvent ended = rig.run({});
  ASSERT_EQ(ended.ends.size(), 2u);
  ASSERT_EQ(ended.ends[0].how, How::done) << rig.message();
  EXPECT_EQ(finding<double>(ended.ends[0], "bool"), 1);
  EXPECT_EQ(finding<double>(ended.ends[0], "int"), 7);
  EXPECT_EQ(finding<double>(ended.ends[0], "float32"), 0.5);
  EXPECT_EQ(finding<double>(ended.ends[0], "zero"), 2.5);
  EXPECT_EQ(finding<std::vector<double>>(ended.ends[0], "array"), (std::vector<double>{0, 1, 2, 3}));
  EXPECT_EQ(finding<std::string>(ended.ends[0], "text"), "storm");
  EXPECT_EQ(ended.ends[1].how, How::done);
  EXPECT_TRUE(ended.ends[1].findings.empty());
}

// The memory belongs to another block then, but it exists, even after its client has left.
TEST_F(PythonAction, AViewThatIsKeptNeverCrashes) {
  ActionRig rig({in_python("keeps")});
  const HeldBlock block = rig.height(0, 5, 2);
  const EndedEvent first = rig.run({block});
  ASSERT_EQ(first.ends.size(), 1u);
  EXPECT_EQ(finding<double>(first.ends[0], "kept"), 2);
  *rig.segment.at<double>(block.offset) = 10;
  const EndedEvent second = rig.run({block});
  EXPECT_EQ(finding<double>(second.ends[0], "kept"), 20);
  rig.runner->forget_segment(1);
  ASSERT_TRUE(rig.runner->add_segment(2, rig.segment.fd(), rig.segment.bytes()).ok());
  HeldBlock other = block;
  other.segment = 2;
  const EndedEvent third = rig.run({other});
  EXPECT_EQ(finding<double>(third.ends[0], "kept"), 10);  // zeros for the two old views
  EXPECT_EQ(finding<double>(third.ends[0], "views"), 3);
  EXPECT_TRUE(rig.failures.empty()) << rig.message();
}

struct WrongFunction {
  const char* function;
  const char* message;
};

class WrongPythonAction : public PythonAction, public testing::WithParamInterface<WrongFunction> {};

TEST_P(WrongPythonAction, IsToldAndDisabledAndTheOthersGoOn) {
  ActionRig rig({in_python(GetParam().function), in_python("sums")});
  const std::vector<HeldBlock> blocks = {rig.height(3, 5, 1)};
  const EndedEvent first = rig.run(blocks);
  ASSERT_EQ(first.ends.size(), 2u);
  EXPECT_EQ(first.ends[0].how, How::failed);
  EXPECT_EQ(first.ends[1].how, How::done) << rig.message(1);
  ASSERT_EQ(rig.failures.size(), 1u);
  EXPECT_TRUE(has(rig.message(), GetParam().message));
  const EndedEvent second = rig.run(blocks, 6);
  ASSERT_EQ(second.ends.size(), 2u);
  EXPECT_EQ(second.ends[0].how, How::skipped);
  EXPECT_EQ(second.ends[1].how, How::done);
  EXPECT_EQ(*rig.segment.at<double>(blocks[0].offset), 1) << "the data were changed";
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongPythonAction,
    testing::Values(WrongFunction{"raises", "found the exception ValueError: no storm in the data (plugin.py, line "},
                    WrongFunction{"leaves", "found the exception SystemExit: 3"},
                    WrongFunction{"really_leaves", "ended with exit status 42"},
                    WrongFunction{"writes", "read-only (plugin.py, line "},
                    WrongFunction{"forces_it", "killed by signal 11 (Segmentation fault)"},
                    WrongFunction{"missing", "no block of 'pressure'; there are blocks of height"},
                    WrongFunction{"returns_a_number", "found 5 as the result, expected a dict or None"},
                    WrongFunction{"returns_an_object", "for 'key' in the results, expected a number"},
                    WrongFunction{"takes_too_little", "takes 1 positional argument but 3 were given"}),
    [](const auto& of) { return std::string(of.param.function); });

TEST_F(PythonAction, AHangingOneIsCutAtItsLimit) {
  ActionRig rig({in_python("hangs"), in_python("sums")});
  rig.config.actions[0].limit = std::chrono::seconds(5);
  rig.runner->run(ActionRig::event(5), {rig.height(3, 5, 1)});
  rig.wait_until([&] { return rig.runner->deadline() == std::chrono::seconds(5); });
  rig.clock.advance(std::chrono::seconds(5));
  rig.wait_until([&] { return !rig.ended.empty(); });
  EXPECT_TRUE(has(rig.message(), "found no end after 5 s"));
  ASSERT_EQ(rig.ended[0].ends.size(), 2u);
  EXPECT_EQ(rig.ended[0].ends[1].how, How::done) << rig.message(1);
}

TEST_F(PythonAction, ACrashTellsWhereInPython) {
  ActionRig rig({in_python("forces_it")});
  rig.run({rig.height(3, 5, 1)});
  ASSERT_EQ(rig.failures.size(), 1u);
  EXPECT_TRUE(has(rig.failures[0].output, "plugin.py"));
}

// The interpreter is free for plugins' threads between the calls; an error in one of them is reported, too.
TEST_F(PythonAction, AThreadThatEndsTheProcessLaterIsTold) {
  ActionRig rig({in_python("leaves_later")});
  rig.run({});
  rig.wait_until([&] { return !rig.failures.empty(); });
  EXPECT_EQ(rig.failures[0].action, 0u);
  EXPECT_TRUE(has(rig.message(), "ended with exit status 9"));
}

struct WrongFile {
  const char* name;
  const char* file;
  const char* function;
  const char* message;
};

class WrongPythonFile : public PythonAction, public testing::WithParamInterface<WrongFile> {};

TEST_P(WrongPythonFile, IsToldBeforeTheFirstEvent) {
  ActionRig rig({in_python(GetParam().function, GetParam().file)});
  rig.runner->start();
  rig.wait_until([&] { return !rig.failures.empty(); });
  EXPECT_TRUE(has(rig.message(), GetParam().message));
  const EndedEvent ended = rig.run({});
  ASSERT_EQ(ended.ends.size(), 1u);
  EXPECT_EQ(ended.ends[0].how, How::skipped);
}

INSTANTIATE_TEST_SUITE_P(
    All, WrongPythonFile,
    testing::Values(WrongFile{"missing", "missing.py", "locate", "missing.py', expected one with Python in it"},
                    WrongFile{"no_function", "plugin.py", "locate", "found nothing of that name for 'locate'"},
                    WrongFile{"no_callable", "plugin.py", "not_a_function", "found 5 for 'not_a_function'"},
                    WrongFile{"syntax", "wrong_syntax.py", "locate", "SyntaxError"},
                    WrongFile{"import", "wrong_import.py", "locate", "No module named 'no_such_package_anywhere'"},
                    WrongFile{"leaves", "leaves_at_once.py", "locate", "SystemExit: no reason to stay"}),
    [](const auto& of) { return std::string(of.param.name); });

TEST_F(PythonAction, TheProgramsEnvironmentIsUsedIfNoneIsNamedAndItFits) {
  ActionRig fits({in_python("sums")});
  fits.config.program_python = std::exchange(fits.config.python_environment, "");
  EXPECT_EQ(fits.run({}).ends.at(0).how, How::done);

  ASSERT_EQ(::setenv("VIRTUAL_ENV", TEST_PYTHON_ENVIRONMENT, 1), 0);
  ActionRig does_not({in_python("sums")});
  does_not.config.python_environment.clear();
  does_not.config.program_python = "/nowhere";
  EXPECT_EQ(does_not.run({}).ends.at(0).how, How::done) << does_not.message();
  ASSERT_EQ(::unsetenv("VIRTUAL_ENV"), 0);
}

TEST_F(PythonAction, AnEnvironmentOfAnotherPythonIsRefused) {
  ActionRig rig({in_python("sums")});
  rig.config.python_environment = "/nowhere";
  const EndedEvent ended = rig.run({});
  EXPECT_EQ(ended.ends.at(0).how, How::skipped);
  EXPECT_TRUE(has(rig.message(), "found no '/nowhere/lib/python" TEST_PYTHON_VERSION "/site-packages'"));
}

}  // namespace
}  // namespace tailrace::impl
