// The two-ended pool with real threads: one allocates, several give back; the bytes of a block belong to its holder
// alone.
#include "base/memory/pool.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstring>
#include <memory>
#include <thread>
#include <vector>

#include "base/sync/spsc_ring.hpp"
#include "base/sync/wait_bell.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kPoolBytes = uint64_t{1} << 20;
constexpr uint32_t kBlocks = 64;

struct Filled {
  PoolBlock block;
  uint64_t bytes = 0;
  uint8_t value = 0;
};

struct SharedPool {
  std::unique_ptr<std::byte[]> bytes{new std::byte[kPoolBytes]()};
  FreeStack<>::Head head;
  std::vector<std::atomic<uint32_t>> links = std::vector<std::atomic<uint32_t>>(kBlocks);
  WaitBell owner_bell;
};

// One thread that gives blocks back, and its ring.
struct Finisher {
  SpscRing<Filled>::Counters counters;
  std::vector<Filled> slots = std::vector<Filled>(16);
  SpscRing<Filled> ring{counters, slots};
  WaitBell bell;
  uint64_t wrong = 0;
  uint64_t seen = 0;

  // Runs until a block of no bytes comes.
  void run(SharedPool& shared) {
    FreeStack<> stack(shared.head, shared.links);
    for (;;) {
      Filled filled;
      bell.wait_until([&] { return ring.pop(filled); }, std::nullopt);
      shared.owner_bell.ring();  // there is room in the ring
      if (filled.bytes == 0) return;
      std::byte* const begin = shared.bytes.get() + filled.block.offset;
      for (uint64_t i = 0; i < filled.bytes; ++i) wrong += begin[i] != std::byte{filled.value};
      std::memset(begin, 0xee, filled.bytes);
      ++seen;
      stack.push(filled.block.index);
      shared.owner_bell.ring();
    }
  }
};

TEST(Pool, BlocksGoRoundBetweenThreads) {
  for_seeds(3, [](uint64_t seed) {
    Dice dice(seed);
    SharedPool shared;
    std::vector<std::unique_ptr<Finisher>> finishers;
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i) {
      finishers.push_back(std::make_unique<Finisher>());
      threads.emplace_back([&shared, finisher = finishers.back().get()] { finisher->run(shared); });
    }
    PoolOwner owner(kPoolBytes, FreeStack<>(shared.head, shared.links));
    const auto send = [&](Finisher& finisher, const Filled& filled) {
      shared.owner_bell.wait_until([&] { return finisher.ring.push(filled); }, std::nullopt);
      finisher.bell.ring();
    };
    constexpr uint64_t kRounds = 3000;
    for (uint64_t round = 0; round < kRounds; ++round) {
      const uint64_t bytes = dice.between(1, dice.chance(10) ? kPoolBytes / 2 : 3000);
      std::optional<PoolBlock> block;
      shared.owner_bell.wait_until([&] { return (block = owner.allocate(bytes)).has_value(); }, std::nullopt);
      EXPECT_LE(owner.held(), owner.size());
      std::memset(shared.bytes.get() + block->offset, static_cast<int>(round & 0xff), bytes);
      send(*finishers[dice.below(finishers.size())], {*block, bytes, static_cast<uint8_t>(round)});
    }
    for (auto& finisher : finishers) send(*finisher, {});
    for (std::thread& thread : threads) thread.join();
    uint64_t seen = 0;
    for (auto& finisher : finishers) {
      EXPECT_EQ(finisher->wrong, 0u);
      seen += finisher->seen;
    }
    EXPECT_EQ(seen, kRounds);
    owner.collect();
    EXPECT_EQ(owner.held(), 0u);
    EXPECT_GT(owner.peak(), 0u);
    EXPECT_LE(owner.peak(), owner.size());
    EXPECT_TRUE(owner.allocate(kPoolBytes));
  });
}

TEST(Pool, ABlockThatNeverLeftIsFreedAtOnce) {
  SharedPool shared;
  PoolOwner owner(kPoolBytes, FreeStack<>(shared.head, shared.links));
  const auto block = owner.allocate(kPoolBytes);
  ASSERT_TRUE(block);
  EXPECT_EQ(owner.held(), kPoolBytes);
  EXPECT_FALSE(owner.allocate(1));
  owner.free(*block);
  EXPECT_EQ(owner.held(), 0u);
  EXPECT_EQ(owner.peak(), kPoolBytes);
}

TEST(Pool, ABlockThatIsHeldStaysAfterBothEndsAreDone) {
  SharedPool shared;
  FreeStack<> stack(shared.head, shared.links);
  const auto memory = std::make_shared<int>(0);
  std::unique_ptr<Hold> first;
  {
    PoolOwner owner(kPoolBytes, stack);
    const PoolBlock held = *owner.allocate(kPoolBytes / 2);
    const PoolBlock free = *owner.allocate(kPoolBytes / 2);
    first = owner.hold(held, memory);
    std::unique_ptr<Hold> second = owner.hold(held, memory);
    EXPECT_EQ(owner.kept(), 0u);
    stack.push(held.index);
    stack.push(free.index);
    owner.collect();
    EXPECT_EQ(owner.held(), kPoolBytes / 2);
    EXPECT_EQ(owner.kept(), kPoolBytes / 2);
    EXPECT_EQ(owner.allocate(kPoolBytes / 2)->offset, free.offset);
    first.reset();
    EXPECT_FALSE(owner.allocate(1)) << "one still holds it";
    second.reset();
    EXPECT_EQ(owner.allocate(kPoolBytes / 2)->offset, held.offset);
    EXPECT_EQ(owner.kept(), 0u);
    first = owner.hold(held, memory);
  }
  EXPECT_EQ(memory.use_count(), 2) << "the hold outlives the owner";
  first.reset();
  EXPECT_EQ(memory.use_count(), 1);
}

TEST(PoolDeathTest, ABlockGivenBackTwiceIsADefect) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  SharedPool shared;
  FreeStack<> stack(shared.head, shared.links);
  PoolOwner owner(kPoolBytes, stack);
  EXPECT_DEATH(
      {
        stack.push(7);
        owner.collect();
      },
      "ASSERT");
}

}  // namespace
}  // namespace tailrace::impl
