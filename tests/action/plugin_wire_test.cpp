// The contents of messages between server and plugin host, in both directions, truncated, and corrupt.
#include "action/plugin_wire.hpp"

#include <gtest/gtest.h>

#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

PluginCall some_call() {
  PluginCall call;
  call.event = "storm";
  call.iteration = -7;
  call.clients = {0, 3, 9};
  call.variables = {{"height", "m"}, {"", ""}};
  call.blocks.resize(2);
  call.blocks[1].offset = 4096;
  call.blocks[1].variable = 1;
  call.blocks[1].shape[3] = 12;
  return call;
}

PluginAnswer some_answer() {
  return {"why", {"a line", ""}, {{"n", 2.5}, {"t", std::string("text")}, {"a", std::vector<double>{1, 2, 3}}}};
}

TEST(PluginWire, CallsBothWays) {
  const auto back = decode_call(encode(some_call()));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->event, "storm");
  EXPECT_EQ(back->iteration, -7);
  EXPECT_EQ(back->clients, (std::vector<int32_t>{0, 3, 9}));
  ASSERT_EQ(back->variables.size(), 2u);
  EXPECT_EQ(back->variables[0].unit, "m");
  ASSERT_EQ(back->blocks.size(), 2u);
  EXPECT_EQ(back->blocks[1].offset, 4096u);
  EXPECT_EQ(back->blocks[1].shape[3], 12u);
}

TEST(PluginWire, FunctionsBothWays) {
  const auto back =
      decode_function(encode(PluginFunction{Action::Run::python, "track.py", "locate", "/venv", "/own"}));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->run, Action::Run::python);
  EXPECT_EQ(back->file, "track.py");
  EXPECT_EQ(back->function, "locate");
  EXPECT_EQ(back->python_environment, "/venv");
  EXPECT_EQ(back->program_python, "/own");
}

TEST(PluginWire, AnswersBothWays) {
  const auto back = decode_answer(encode(some_answer()));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->error, "why");
  EXPECT_EQ(back->messages, (std::vector<std::string>{"a line", ""}));
  ASSERT_EQ(back->findings.size(), 3u);
  EXPECT_EQ(std::get<double>(back->findings[0].value), 2.5);
  EXPECT_EQ(std::get<std::string>(back->findings[1].value), "text");
  EXPECT_EQ(std::get<std::vector<double>>(back->findings[2].value), (std::vector<double>{1, 2, 3}));
}

TEST(PluginWire, EveryLengthButTheWholeIsRefused) {
  std::vector<std::byte> bytes = encode(some_answer());
  for (size_t length = 0; length < bytes.size(); ++length) {
    EXPECT_FALSE(decode_answer(std::span(bytes).first(length))) << length;
  }
  bytes.push_back(std::byte{0});
  EXPECT_FALSE(decode_answer(bytes));
  const std::vector<std::byte> call = encode(some_call());
  for (size_t length = 0; length < call.size(); ++length) {
    EXPECT_FALSE(decode_call(std::span(call).first(length))) << length;
  }
}

TEST(PluginWire, ABlockOfNoVariableIsRefused) {
  PluginCall call = some_call();
  call.blocks[0].variable = 2;
  EXPECT_FALSE(decode_call(encode(call)));
}

// Decoding reads nothing beyond the bytes, and allocates no memory for what they only claim.
TEST(PluginWire, SpoiltBytesDoNoHarm) {
  const std::vector<std::byte> whole = encode(some_answer());
  for_seeds(10, [&](uint64_t seed) {
    Dice dice(seed);
    for (int round = 0; round < 1000; ++round) {
      std::vector<std::byte> bytes = whole;
      for (uint64_t edits = dice.between(1, 4); edits > 0; --edits) {
        bytes[dice.below(bytes.size())] = static_cast<std::byte>(dice.below(256));
      }
      static_cast<void>(decode_answer(bytes));
      static_cast<void>(decode_call(bytes));
      static_cast<void>(decode_function(bytes));
    }
  });
}

}  // namespace
}  // namespace tailrace::impl
