// SpscRing under every interleaving: elements come out once and in order, and no slot is read and written at once.
#include "base/sync/spsc_ring.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "testing/interleave.hpp"

namespace tailrace::impl::testing {
namespace {

using Ring = SpscRing<Watched<int>, InterleavedAtomic>;

// A ring whose counters start at `start`, so that they can be made to wrap.
struct Shared {
  Shared(size_t slot_count, uint32_t start) : slots(slot_count) {
    counters.pushed.store(start);
    counters.popped.store(start);
  }
  Ring::Counters counters;
  std::vector<Watched<int>> slots;
};

// Pushes 1 … count, and lets the consumer run while the ring is full.
void produce(Shared& shared, int count) {
  Ring ring(shared.counters, shared.slots);
  for (int i = 1; i <= count; ++i) {
    while (!ring.push(i)) block_until([&] { return !ring.full(); });
  }
}

void consume(Shared& shared, int count) {
  Ring ring(shared.counters, shared.slots);
  for (int i = 1; i <= count; ++i) {
    Watched<int> value;
    while (!ring.pop(value)) block_until([&] { return !ring.empty(); });
    require(value == i, "element " + std::to_string(i) + " came out as " + std::to_string(value));
  }
  require(ring.empty(), "something is left in the ring");
}

void expect_in_order(size_t slots, uint32_t start, int count) {
  const auto result = explore([=]() -> InterleavedRun {
    auto shared = std::make_shared<Shared>(slots, start);
    return {{[=] { produce(*shared, count); }, [=] { consume(*shared, count); }}, {}};
  });
  EXPECT_TRUE(result.ok()) << result.report();
  EXPECT_TRUE(result.complete);
}

TEST(SpscRing, OneSlot) { expect_in_order(1, 0, 3); }
TEST(SpscRing, TwoSlots) { expect_in_order(2, 0, 4); }
TEST(SpscRing, CountersThatWrap) { expect_in_order(2, 0xfffffffeu, 4); }

}  // namespace
}  // namespace tailrace::impl::testing
