// Plans: groups, file domains, and the choice of an algorithm.
#include "collective/plan.hpp"

#include <gtest/gtest.h>

#include <random>

namespace {

using namespace tailrace::collective;

// `count` processes whose ranges follow one another.
std::vector<Contribution> in_turn(uint32_t count, uint64_t bytes, uint64_t pieces) {
  std::vector<Contribution> all;
  for (uint64_t i = 0; i < count; ++i) all.push_back({i * bytes, (i + 1) * bytes, bytes, pieces});
  return all;
}

// All processes have small pieces of the whole range.
std::vector<Contribution> interleaved(uint32_t count, uint64_t bytes, uint64_t piece) {
  return std::vector<Contribution>(count, {0, count * bytes, bytes, bytes / piece});
}

constexpr uint64_t kLarge = 64 << 10;
const std::vector<int> kOneNode(64, 0);

std::span<const int> one_node(size_t ranks) { return std::span(kOneNode).first(ranks); }

TEST(Choice, IsIndividualWhereNothingIsInterleaved) {
  EXPECT_EQ(choose(in_turn(4, 1000, 1), kLarge), Algorithm::individual);
  EXPECT_EQ(choose(in_turn(4, 1000, 100), kLarge), Algorithm::individual);
}

TEST(Choice, IsIndividualForLargePiecesAndForSparseOnes) {
  EXPECT_EQ(choose(interleaved(4, 1 << 20, 1 << 17), kLarge), Algorithm::individual);
  std::vector<Contribution> sparse = interleaved(4, 1 << 20, 1000);
  for (Contribution& one : sparse) one.end *= 10;
  EXPECT_EQ(choose(sparse, kLarge), Algorithm::individual);
}

TEST(Choice, DependsOnWhatALargePieceIs) {
  EXPECT_EQ(choose(interleaved(4, 1 << 20, 1000), 1001), Algorithm::dynamic);
  EXPECT_EQ(choose(interleaved(4, 1 << 20, 1000), 1000), Algorithm::individual);
}

TEST(Choice, IsIndividualForOneProcessOrNone) {
  EXPECT_EQ(choose({}, kLarge), Algorithm::individual);
  std::vector<Contribution> all = interleaved(4, 1 << 20, 1000);
  for (size_t i = 1; i < 4; ++i) all[i] = {};
  EXPECT_EQ(choose(all, kLarge), Algorithm::individual);
}

TEST(Choice, IsDynamicForSmallInterleavedPieces) {
  EXPECT_EQ(choose(interleaved(4, 1 << 20, 1000), kLarge), Algorithm::dynamic);
  const Plan plan(interleaved(4, 1 << 20, 1000), one_node(4), {});
  EXPECT_EQ(plan.algorithm(), Algorithm::dynamic);
  ASSERT_EQ(plan.groups().size(), 1U);
  EXPECT_EQ(plan.groups()[0].domains.size(), 1U) << "one aggregator for a node";
}

TEST(Plan, TwoPhaseDividesTheRangeIntoAlignedDomains) {
  Options options{Algorithm::two_phase, 3};
  options.alignment = 64;
  const Plan plan(interleaved(4, 250, 10), one_node(4), options);
  ASSERT_EQ(plan.groups().size(), 1U);
  const std::vector<Group::Domain>& domains = plan.groups()[0].domains;
  ASSERT_EQ(domains.size(), 3U);
  EXPECT_EQ(domains[0].begin, 0U);
  EXPECT_EQ(domains[0].end, 384U);
  EXPECT_EQ(domains[1].end, 768U);
  EXPECT_EQ(domains[2].end, 1000U);
}

TEST(Plan, TakesAnAggregatorFromEachNodeFirst) {
  const std::vector<int> nodes{7, 7, 7, 8, 8, 9};
  const Plan plan(interleaved(6, 600, 10), nodes, {Algorithm::two_phase});
  ASSERT_EQ(plan.groups()[0].domains.size(), 3U);
  EXPECT_EQ(plan.groups()[0].domains[0].aggregator, 0U);
  EXPECT_EQ(plan.groups()[0].domains[1].aggregator, 3U);
  EXPECT_EQ(plan.groups()[0].domains[2].aggregator, 5U);
}

TEST(Plan, SegmentationMakesGroupsThatDoNotMeet) {
  // Two pairs of processes, each interleaved with its neighbour.
  std::vector<Contribution> all;
  for (const uint64_t begin : {0, 0, 1000, 1000}) all.push_back({begin, begin + 1000, 500, 50});
  for (const Algorithm algorithm : {Algorithm::dynamic, Algorithm::static_}) {
    const Plan plan(all, one_node(4), {algorithm, 2});
    ASSERT_EQ(plan.groups().size(), 2U);
    EXPECT_EQ(plan.groups()[0].members, (std::vector<uint32_t>{0, 1}));
    EXPECT_EQ(plan.groups()[1].members, (std::vector<uint32_t>{2, 3}));
    EXPECT_TRUE(plan.to(0).size() == 2 && plan.to(2).size() == 2);
    EXPECT_EQ(plan.members_with(3), 2U);
  }
}

TEST(Plan, SegmentationGivesAGroupThatCannotBeDividedAllAggregators) {
  const Plan plan(interleaved(4, 1000, 10), one_node(4), {Algorithm::dynamic, 4});
  ASSERT_EQ(plan.groups().size(), 1U);
  EXPECT_EQ(plan.groups()[0].domains.size(), 4U);
}

TEST(Plan, SegmentationMayHaveSeveralAggregatorsInAGroup) {
  std::vector<Contribution> all;
  for (const uint64_t begin : {0, 0, 1000, 1000}) all.push_back({begin, begin + 1000, 500, 50});
  Options options{Algorithm::dynamic, 4};
  options.aggregators_per_group = 2;
  const Plan plan(all, one_node(4), options);
  ASSERT_EQ(plan.groups().size(), 2U);
  EXPECT_EQ(plan.groups()[0].domains.size(), 2U);
}

// Every byte of every process goes to exactly one aggregator, whatever the plan.
TEST(Plan, CoversEachRangeOnce) {
  const uint64_t seed = std::random_device{}();
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::mt19937_64 dice(seed);
  const auto below = [&dice](uint64_t limit) { return dice() % limit; };
  for (int round = 0; round < 2000; ++round) {
    const auto ranks = static_cast<uint32_t>(1 + below(20));
    std::vector<Contribution> all(ranks);
    std::vector<int> nodes(ranks);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      nodes[rank] = static_cast<int>(below(4));
      if (below(5) == 0) continue;
      const uint64_t begin = below(100000);
      const uint64_t range = 1 + below(10000);
      all[rank] = {begin, begin + range, 1 + below(range), 1};
    }
    Options options;
    options.algorithm = static_cast<Algorithm>(below(5));
    options.aggregators = static_cast<uint32_t>(below(25));
    options.aggregators_per_group = static_cast<uint32_t>(below(4));
    options.alignment = below(3) == 0 ? 4096 : below(2);
    const Plan plan(all, nodes, options);
    size_t streams = 0;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
      streams += plan.to(rank).size();
      const std::vector<Stream> from = plan.from(rank);
      if (plan.groups().empty() || all[rank].bytes == 0) {
        EXPECT_TRUE(from.empty());
        continue;
      }
      ASSERT_FALSE(from.empty());
      EXPECT_LE(from.front().begin, all[rank].begin);
      EXPECT_GE(from.back().end, all[rank].end);
      for (size_t i = 1; i < from.size(); ++i) {
        EXPECT_EQ(from[i - 1].end, from[i].begin);
        EXPECT_NE(from[i - 1].aggregator, from[i].aggregator);
      }
      streams -= from.size();
    }
    EXPECT_EQ(streams, 0U) << "what is sent is received";
  }
}

}  // namespace
