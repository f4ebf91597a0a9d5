// FreeStack under every interleaving: each pushed block comes back exactly once, and what its finisher did with it
// happened before the owner has it again.
#include "base/sync/free_stack.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "testing/interleave.hpp"

namespace tailrace::impl::testing {
namespace {

using Stack = FreeStack<InterleavedAtomic>;

struct Pool {
  explicit Pool(size_t blocks) : links(blocks), bytes(blocks), taken(blocks) {}

  Stack::Head head;
  std::vector<InterleavedAtomic<uint32_t>> links;
  std::vector<Watched<int>> bytes;  // of the blocks: written by the finisher, then by the owner
  std::vector<int> taken;           // the owner's: how often each block came back
  Stack stack{head, links};

  void finish(uint32_t block) {
    bytes[block] = 1;
    stack.push(block);
  }
  void collect() {
    stack.take_all([this](uint32_t block) {
      bytes[block] = 2;
      ++taken[block];
    });
  }
  void expect_all_back() {
    collect();
    for (const int times : taken) require(times == 1, "a block came back " + std::to_string(times) + " times");
  }
};

TEST(FreeStack, TwoFinishersAndAnOwnerThatCollects) {
  const auto result = explore([]() -> InterleavedRun {
    auto pool = std::make_shared<Pool>(3);
    return {{[pool] {
               pool->finish(0);
               pool->finish(1);
             },
             [pool] { pool->finish(2); },
             [pool] {
               pool->collect();
               pool->collect();
             }},
            [pool] { pool->expect_all_back(); }};
  });
  EXPECT_TRUE(result.ok()) << result.report();
  EXPECT_TRUE(result.complete);
}

// The ABA situation: a block comes back, is reused and pushed again while another finisher is inside push().
TEST(FreeStack, ABlockThatIsReusedWhileAnotherIsPushed) {
  const auto result = explore([]() -> InterleavedRun {
    auto pool = std::make_shared<Pool>(2);
    pool->stack.push(0);
    return {{[pool] { pool->finish(1); },
             [pool] {
               pool->collect();
               if (pool->taken[0] == 1) {
                 pool->taken[0] = 0;
                 pool->finish(0);
               }
             }},
            [pool] { pool->expect_all_back(); }};
  });
  EXPECT_TRUE(result.ok()) << result.report();
  EXPECT_TRUE(result.complete);
}

}  // namespace
}  // namespace tailrace::impl::testing
