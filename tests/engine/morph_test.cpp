// The rule of morphing, tested on random requests: whatever it allows, no requests wait in a circle.
#include "engine/queue/morph.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <set>
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
  // The request that must be waited for adds a wait that was otherwise unnecessary.
  std::vector<MorphCandidate> chain{{0, 9, 5, 0}, {1, 6, 3, 0}};
  EXPECT_EQ(may_take_from(chain, 3), 0u);
  EXPECT_EQ(may_take_from(chain, 2), 2u);
  // Requests that a candidate waits for: a request that takes from it waits for them, too.
  std::vector<MorphCandidate> inherits{{0, 9, 9, 7}, {1, 5, 5, 0}};
  EXPECT_EQ(may_take_from(inherits, 0), 1u);
  EXPECT_EQ(inherits[0].slot, 0u);
}

// Random writes that may take from any earlier ones, or wait for any. Those that took from each other end together.
TEST(MorphRule, NobodyWaitsInACircle) {
  for_seeds(300, [](uint64_t seed) {
    Dice dice(seed);
    struct Bond {
      uint64_t floor = 0;
      std::set<uint64_t> blockers;  // numbers
    };
    std::vector<std::shared_ptr<Bond>> bonds(1);  // by number
    const auto newest = [](const std::set<uint64_t>& numbers) { return numbers.empty() ? 0 : *numbers.rbegin(); };
    const uint64_t count = dice.between(2, 30);
    for (uint64_t number = 1; number <= count; ++number) {
      auto bond = std::make_shared<Bond>(Bond{number, {}});
      std::vector<MorphCandidate> candidates;
      for (uint64_t earlier = 1; earlier < number; ++earlier) {
        if (dice.chance(8)) {
          bond->blockers.insert(earlier);
        } else if (dice.chance(20)) {
          candidates.push_back({0, earlier, bonds[earlier]->floor, newest(bonds[earlier]->blockers)});
        }
      }
      const size_t takes = may_take_from(candidates, newest(bond->blockers));
      for (size_t i = takes; i < candidates.size(); ++i) bond->blockers.insert(candidates[i].number);
      bonds.push_back(bond);
      for (size_t i = 0; i < takes; ++i) {
        const std::shared_ptr<Bond> other = bonds[candidates[i].number];
        bond->floor = std::min(bond->floor, other->floor);
        bond->blockers.insert(other->blockers.begin(), other->blockers.end());
        std::replace(bonds.begin(), bonds.end(), other, bond);
      }
    }
    std::map<const Bond*, int> state;  // 1: in progress, 2: known to end
    const std::function<bool(const Bond*)> ends = [&](const Bond* bond) {
      if (state[bond] != 0) return state[bond] == 2;
      state[bond] = 1;
      for (const uint64_t blocker : bond->blockers) {
        if (!ends(bonds[blocker].get())) return false;
      }
      state[bond] = 2;
      return true;
    };
    for (uint64_t number = 1; number <= count; ++number) ASSERT_TRUE(ends(bonds[number].get())) << number;
  });
}

}  // namespace
}  // namespace tailrace::impl
