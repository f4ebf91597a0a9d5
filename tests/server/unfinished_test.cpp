// Unfinished against a plain set.
#include "server/verbs/unfinished.hpp"

#include <gtest/gtest.h>

#include <set>

#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

TEST(Unfinished, KnowsTheEarliest) {
  for_seeds(50, [](uint64_t seed) {
    Dice dice(seed);
    Unfinished unfinished;
    std::set<uint64_t> model;
    std::set<uint64_t> skipped;
    uint64_t last = 0;
    for (int step = 0; step < 500; ++step) {
      if (dice.chance(55)) {
        // Settings that were thinned come again in another order.
        const bool late = dice.chance(5) && !skipped.empty();
        const uint64_t sequence = late ? *skipped.begin() : ++last;
        skipped.erase(sequence);
        if (dice.chance(20)) skipped.insert(++last);
        unfinished.add(sequence);
        model.insert(sequence);
      } else if (!model.empty()) {
        const auto at = std::next(model.begin(), static_cast<int64_t>(dice.below(std::min<size_t>(model.size(), 8))));
        unfinished.end(*at);
        if (dice.chance(20)) unfinished.end(*at);
        model.erase(at);
      }
      ASSERT_EQ(unfinished.empty(), model.empty());
      if (!model.empty()) {
        ASSERT_EQ(unfinished.first(), *model.begin());
      }
    }
  });
}

}  // namespace
}  // namespace tailrace::impl
