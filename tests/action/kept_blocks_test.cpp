// KeptBlocks: which blocks are held for actions, for how long, and which of them an action gets.
#include "action/kept_blocks.hpp"

#include <gtest/gtest.h>

#include "model/config/config.hpp"

namespace tailrace::impl {
namespace {

// Variable 0 keeps nothing, 1 keeps two iterations.
Config config() {
  Config made;
  made.variables.resize(2);
  made.variables[1].keep = 2;
  return made;
}

HeldBlock block(uint32_t variable, int64_t iteration, int source, uint64_t offset = 0) {
  HeldBlock made;
  made.variable = variable;
  made.iteration = iteration;
  made.source = source;
  made.offset = offset;
  return made;
}

// Returns "variable/iteration/source …".
std::string names(const std::vector<HeldBlock>& blocks) {
  std::string text;
  for (const HeldBlock& one : blocks) {
    text += std::to_string(one.variable) + "/" + std::to_string(one.iteration) + "/" + std::to_string(one.source);
    text += " ";
  }
  return text;
}

TEST(KeptBlocks, GoWithTheirIterationUnlessKept) {
  KeptBlocks kept(config().variables);
  for (int64_t iteration = 0; iteration < 5; ++iteration) {
    kept.add(block(0, iteration, 7));
    kept.add(block(1, iteration, 7));
    const std::string gone = names(kept.end(7, iteration));
    const std::string old = "1/" + std::to_string(iteration - 2) + "/7 ";
    EXPECT_EQ(gone, "0/" + std::to_string(iteration) + "/7 " + (iteration >= 2 ? old : ""));
  }
  EXPECT_EQ(kept.size(), 2u);
}

TEST(KeptBlocks, AnIterationThatHasNotEndedIsHeld) {
  KeptBlocks kept(config().variables);
  kept.add(block(0, 1, 0));
  kept.add(block(0, 2, 0));
  EXPECT_EQ(names(kept.end(0, 2)), "0/2/0 ");
  EXPECT_EQ(names(kept.end(0, 1)), "0/1/0 ");
  EXPECT_TRUE(kept.end(0, 1).empty());
}

TEST(KeptBlocks, ASecondBlockTakesThePlaceOfTheFirst) {
  KeptBlocks kept(config().variables);
  EXPECT_FALSE(kept.add(block(0, 1, 0, 64)));
  const auto earlier = kept.add(block(0, 1, 0, 128));
  ASSERT_TRUE(earlier);
  EXPECT_EQ(earlier->offset, 64u);
  EXPECT_EQ(kept.end(0, 1).at(0).offset, 128u);
}

TEST(KeptBlocks, AnActionGetsItsSourcesBlocksInOrder) {
  KeptBlocks kept(config().variables);
  for (const int source : {1, 0, 2}) {
    for (const int64_t iteration : {3, 4, 5, 6}) kept.add(block(1, iteration, source));
    kept.add(block(0, 5, source));
    for (const int64_t iteration : {3, 4}) kept.end(source, iteration);
  }
  const std::vector<int32_t> sources = {0, 1};
  EXPECT_EQ(names(kept.of(5, sources)), "0/5/0 0/5/1 1/3/0 1/3/1 1/4/0 1/4/1 1/5/0 1/5/1 ");
}

TEST(KeptBlocks, WhoLeavesTakesAllAlong) {
  KeptBlocks kept(config().variables);
  kept.add(block(0, 1, 0));
  kept.add(block(1, 1, 0));
  kept.add(block(1, 1, 1));
  EXPECT_EQ(names(kept.leave(0)), "0/1/0 1/1/0 ");
  EXPECT_EQ(kept.size(), 1u);
}

TEST(HeldVariables, ThoseThatCallsMayGet) {
  Config made = config();
  made.actions.resize(2);
  EXPECT_EQ(held_variables(made.variables.size(), made.actions), (std::vector<bool>{false, false}))
      << "store needs none";
  made.actions[1].run = Action::Run::statistics;
  made.actions[1].variables = {1};
  EXPECT_EQ(held_variables(made.variables.size(), made.actions), (std::vector<bool>{false, true}));
  made.actions[1].variables = {};
  EXPECT_EQ(held_variables(made.variables.size(), made.actions), (std::vector<bool>{true, true}));
}

TEST(KeptBlocks, WhatIsHeldForOthersIsNotGiven) {
  KeptBlocks kept(config().variables);
  for (int64_t iteration = 0; iteration < 6; ++iteration) {
    kept.add(block(0, iteration, 7));
    if (iteration != 3) kept.add(block(1, iteration, 7));
  }
  const int32_t source = 7;
  EXPECT_EQ(names(kept.of(4, {&source, 1})), "0/4/7 1/1/7 1/2/7 1/4/7 ");
  EXPECT_EQ(names(kept.of(3, {&source, 1})), "0/3/7 1/1/7 1/2/7 ");
}

TEST(KeptBlocks, TheOldestAreGivenUpFirst) {
  KeptBlocks kept(config().variables);
  EXPECT_FALSE(kept.oldest(7));
  for (const int64_t iteration : {3, 1, 2}) {
    kept.add(block(0, iteration, 7));
    kept.add(block(1, iteration, 7));
  }
  kept.add(block(1, 0, 8));
  kept.end(7, 1);
  EXPECT_EQ(kept.oldest(7), 1);
  EXPECT_TRUE(kept.is_over(7, 1));
  EXPECT_EQ(names(kept.drop(7, 1)), "1/1/7 ");
  EXPECT_EQ(kept.oldest(7), 2);
  EXPECT_FALSE(kept.is_over(7, 2));
  EXPECT_EQ(names(kept.drop(7, 2)), "0/2/7 1/2/7 ");
  EXPECT_TRUE(kept.drop(7, 2).empty());
  EXPECT_EQ(kept.oldest(7), 3);
  EXPECT_EQ(kept.oldest(8), 0);
}

}  // namespace
}  // namespace tailrace::impl
