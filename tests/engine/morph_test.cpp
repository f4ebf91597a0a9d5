// The rule of morphing, tried on random requests: whatever it allows, nobody waits in a circle.
#include "engine/queue/morph.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <vector>

#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

TEST(MorphRule, AsATable) {
  std::vector<MorphCandidate> none;
  EXPECT_EQ(may_take_from(none, 5), 0u);
  std::vector<MorphCandidate> one{{0, 4, 4, 0}};
  EXPECT_EQ(may_take_from(one, 0), 1u);
  EXPECT_EQ(may_take_from(one, 3), 1u);
  EXPECT_EQ(may_take_from(one, 4), 0u);
  // The one that must be waited for makes another wait that would have done without it.
  std::vector<MorphCandidate> chain{{0, 9, 5, 0}, {1, 6, 3, 0}};
  EXPECT_EQ(may_take_from(chain, 3), 0u);
  EXPECT_EQ(may_take_from(chain, 2), 2u);
  // What a candidate waits for, whoever takes from it waits for, too.
  std::vector<MorphCandidate> inherits{{0, 9, 9, 7}, {1, 5, 5, 0}};
  EXPECT_EQ(may_take_from(inherits, 0), 1u);
  EXPECT_EQ(inherits[0].slot, 0u);
}

// Writes that may take from any earlier ones, or wait for any, at random.
TEST(MorphRule, NobodyWaitsInACircle) {
  for_seeds(300, [](uint64_t seed) {
    Dice dice(seed);
    struct Node {
      uint64_t floor = 0;
      uint64_t newest = 0;               // blocker
      std::vector<uint64_t> ends_after;  // numbers
      std::vector<uint64_t> blockers;
    };
    std::vector<Node> nodes(1);  // by number
    const uint64_t count = dice.between(2, 30);
    for (uint64_t number = 1; number <= count; ++number) {
      Node node{number, 0, {}, {}};
      std::vector<MorphCandidate> candidates;
      for (uint64_t earlier = 1; earlier < number; ++earlier) {
        if (dice.chance(20)) {
          node.blockers.push_back(earlier);
          node.newest = earlier;
        } else if (dice.chance(40)) {
          candidates.push_back({0, earlier, nodes[earlier].floor, nodes[earlier].newest});
        }
      }
      const size_t takes = may_take_from(candidates, node.newest);
      for (size_t i = 0; i < candidates.size(); ++i) {
        Node& earlier = nodes[candidates[i].number];
        if (i >= takes) {
          node.blockers.push_back(candidates[i].number);
        } else {
          earlier.ends_after.push_back(number);
          node.floor = std::min(node.floor, earlier.floor);
          node.blockers.insert(node.blockers.end(), earlier.blockers.begin(), earlier.blockers.end());
        }
      }
      for (const uint64_t blocker : node.blockers) node.newest = std::max(node.newest, blocker);
      node.ends_after.insert(node.ends_after.end(), node.blockers.begin(), node.blockers.end());
      nodes.push_back(node);
    }
    std::vector<int> state(nodes.size(), 0);  // 1: on the way, 2: known to end
    const std::function<bool(uint64_t)> ends = [&](uint64_t number) {
      if (state[number] != 0) return state[number] == 2;
      state[number] = 1;
      for (const uint64_t other : nodes[number].ends_after) {
        if (!ends(other)) return false;
      }
      state[number] = 2;
      return true;
    };
    for (uint64_t number = 1; number <= count; ++number) ASSERT_TRUE(ends(number)) << number;
  });
}

}  // namespace
}  // namespace tailrace::impl
