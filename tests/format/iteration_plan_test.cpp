// IterationPlan: the places of raw data, against the rules for any such plan.
#include "format/plan/iteration_plan.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "testing/sample_config.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

// No two of them share a byte, none lies where the first metadata go, and pages begin where pages matter.
void expect_well_placed(std::vector<Extent> extents, const IterationPlan& plan) {
  std::sort(extents.begin(), extents.end(), [](const Extent& a, const Extent& b) { return a.offset < b.offset; });
  uint64_t end = kRawBegin;
  for (const Extent& extent : extents) {
    EXPECT_GE(extent.offset, end);
    EXPECT_EQ(extent.offset % (extent.length >= 4096 ? 4096 : 8), 0u);
    end = extent.end();
  }
  EXPECT_EQ(plan.reached(), extents.empty() ? 0 : end);
  EXPECT_GE(plan.raw_end(), end);
}

TEST(IterationPlan, DatasetsLieBesideOneAnother) {
  for_seeds(50, [](uint64_t seed) {
    Dice dice(seed);
    std::vector<SampleVariable> variables;
    for (uint64_t i = dice.between(1, 12); i > 0; --i) {
      variables.push_back({"v" + std::to_string(i), ElementType::uint8, {dice.between(1, 20000)}});
    }
    const Config config = sample_config({"out"}, variables);
    IterationPlan plan(config, "file");
    std::vector<Extent> extents;
    uint64_t bytes = 0;
    for (uint32_t variable = 0; variable < variables.size(); ++variable) {
      const Block block = block_of(config, variable, 3, 0);
      const std::vector<Extent> placed = plan.place(block).value();
      ASSERT_EQ(placed.size(), 1u);
      EXPECT_EQ(plan.place(block).value()[0].offset, placed[0].offset) << "one that comes again";
      extents.push_back(placed[0]);
      bytes += placed[0].length;
      EXPECT_EQ(placed[0].length, variables[variable].shape[0]);
    }
    expect_well_placed(extents, plan);
    EXPECT_LE(plan.raw_end(), kRawBegin + bytes + variables.size() * 4096) << "no more is left free than pages need";
  });
}

TEST(IterationPlan, AChunkThatComesAgainGoesWhereItWasIfItFits) {
  Config config = sample_config({"out"}, {{"v", ElementType::float64, {4096}}});
  config.variables[0].compress = {Compressor::zstd, 3, true, 8192};
  IterationPlan plan(config, "file");
  const Block block = block_of(config, 0, 3, 0);
  const FilteredChunk chunks[] = {{5000, 0}, {100, 0}, {200, 0}};
  const std::vector<Extent> first = plan.place_chunks(block, 0, chunks, {}).value();
  const FilteredChunk again[] = {{4000, 0}, {101, 0}};
  const std::vector<Extent> second = plan.place_chunks(block, 0, again, {}).value();
  EXPECT_EQ(second[0].offset, first[0].offset);
  EXPECT_EQ(second[0].length, 4000u);
  EXPECT_EQ(second[1].length, 101u);
  EXPECT_NE(second[1].offset, first[1].offset);
  expect_well_placed({second[0], second[1], first[2]}, plan);
  const IterationPlan::Dataset& dataset = plan.datasets().at("v");
  EXPECT_EQ(dataset.stored.chunks.size(), 4u);
  EXPECT_EQ(dataset.stored.chunks[3].extent.length, 0u) << "it never came";
}

// Nobody may have written the longer chunk, so that the file ends before its end.
TEST(IterationPlan, AChunkThatComesAgainShorterReachesLessFar) {
  Config config = sample_config({"out"}, {{"v", ElementType::float64, {4096}}});
  config.variables[0].compress = {Compressor::zstd, 3, true, 8192};
  IterationPlan plan(config, "file");
  const FilteredChunk whole{8192, 0};
  const FilteredChunk shorter{40, 0};
  const Extent first = plan.place_chunks(block_of(config, 0, 3, 0), 0, {&whole, 1}, {}).value()[0];
  const Extent second = plan.place_chunks(block_of(config, 0, 3, 0), 0, {&shorter, 1}, {}).value()[0];
  expect_well_placed({second}, plan);
  EXPECT_EQ(plan.raw_end(), first.end());
}

TEST(IterationPlan, AFindingNeedsANameThatAnAttributeCanHave) {
  const Config config = sample_config({"out"}, {{"v", ElementType::float64, {4}}});
  IterationPlan plan(config, "run_000003.h5.part");
  EXPECT_TRUE(plan.note_finding("f", "sum", 1.5).ok());
  EXPECT_TRUE(plan.note_finding("f", "sum", std::string("another")).ok());
  EXPECT_EQ(plan.findings().size(), 1u) << "in place of the one before";
  for (const size_t length : {size_t{0}, size_t{100000}}) {
    const Status refused = plan.note_finding("f", std::string(length, 'n'), 1.5);
    EXPECT_EQ(refused.code(), TAILRACE_INVALID_ARGUMENT);
    EXPECT_NE(refused.fault().message.find("run_000003.h5.part"), std::string::npos) << refused.fault().message;
  }
  EXPECT_EQ(plan.findings().size(), 1u);
}

TEST(IterationPlan, TwoActionsDoNotShareAFinding) {
  const Config config = sample_config({"out"}, {{"v", ElementType::float64, {4}}});
  IterationPlan plan(config, "file");
  const std::string name = "tailraceAction_a_b_c";
  EXPECT_TRUE(plan.note_finding("a", name, 1.5).ok());
  const Status refused = plan.note_finding("a_b", name, 2.5);
  EXPECT_EQ(refused.code(), TAILRACE_INVALID_ARGUMENT);
  EXPECT_EQ(std::get<double>(plan.findings().at(name)), 1.5);
  EXPECT_TRUE(plan.note_finding("a", name, 3.5).ok());
  EXPECT_EQ(std::get<double>(plan.findings().at(name)), 3.5);
}

TEST(IterationPlan, EventsBeyondTheLimitAreCounted) {
  const Config config = sample_config({"out"}, {{"v", ElementType::float64, {4}}});
  IterationPlan plan(config, "file");
  for (size_t i = 0; i <= IterationPlan::kMostEvents; ++i) plan.note_event("storm");
  EXPECT_EQ(plan.events().size(), IterationPlan::kMostEvents);
  EXPECT_EQ(plan.events_not_listed(), 1u);
}

}  // namespace
}  // namespace tailrace::impl
