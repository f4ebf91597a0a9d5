// SpscRing: the full and empty predicates as a table, counters that wrap, and two real threads.
#include "base/sync/spsc_ring.hpp"

#include <gtest/gtest.h>

#include <thread>
#include <vector>

#include "base/sync/wait_bell.hpp"

namespace tailrace::impl {
namespace {

struct Memory {
  Memory(size_t slot_count, uint32_t start) : slots(slot_count) {
    counters.pushed.store(start);
    counters.popped.store(start);
  }
  SpscRing<uint64_t>::Counters counters;
  std::vector<uint64_t> slots;
};

const uint32_t kStarts[] = {0, 1, 3, 0x7fffffffu, 0x80000000u, 0xfffffff8u, 0xfffffffdu, 0xffffffffu};

// Checks what each side sees, for every number of elements in the ring, and every start of the counters.
TEST(SpscRing, FullAndEmptyAsATable) {
  for (const uint32_t start : kStarts) {
    for (const size_t size : {1u, 2u, 4u, 8u}) {
      SCOPED_TRACE(::testing::Message() << "start " << start << ", " << size << " slots");
      if (::testing::Test::HasFailure()) return;
      Memory memory(size, start);
      SpscRing<uint64_t> producer(memory.counters, memory.slots);
      SpscRing<uint64_t> consumer(memory.counters, memory.slots);
      uint64_t next = 100;
      uint64_t expected = 100;
      for (size_t round = 0; round < 12; ++round) {
        for (size_t inside = 0; inside < size; ++inside) {
          EXPECT_FALSE(producer.full()) << inside;
          EXPECT_EQ(consumer.empty(), inside == 0);
          EXPECT_TRUE(producer.push(next++));
        }
        EXPECT_TRUE(producer.full());
        EXPECT_FALSE(producer.push(0));
        for (size_t inside = size; inside > 0; --inside) {
          EXPECT_FALSE(consumer.empty());
          uint64_t value = 0;
          ASSERT_TRUE(consumer.pop(value));
          EXPECT_EQ(value, expected++);
        }
        EXPECT_TRUE(consumer.empty());
        uint64_t value = 0;
        EXPECT_FALSE(consumer.pop(value));
      }
    }
  }
}

// A new side over counters that already run (the server of place `core` after a crash).
TEST(SpscRing, ANewSideTakesOverWhereTheOldOneWas) {
  for (const uint32_t start : kStarts) {
    SCOPED_TRACE(start);
    Memory memory(4, start);
    uint64_t value = 0;
    ASSERT_FALSE(SpscRing<uint64_t>(memory.counters, memory.slots).pop(value)) << "an empty ring gave " << value;
    for (uint64_t i = 1; i <= 4; ++i) {
      EXPECT_TRUE(SpscRing<uint64_t>(memory.counters, memory.slots).push(i));
    }
    EXPECT_FALSE(SpscRing<uint64_t>(memory.counters, memory.slots).push(5)) << "a full ring took one more";
    for (uint64_t i = 1; i <= 4; ++i) {
      ASSERT_TRUE(SpscRing<uint64_t>(memory.counters, memory.slots).pop(value));
      EXPECT_EQ(value, i);
    }
    EXPECT_FALSE(SpscRing<uint64_t>(memory.counters, memory.slots).pop(value));
  }
}

TEST(SpscRing, TwoThreadsInOrder) {
  for (const uint32_t start : {0u, 0xfffffff0u}) {
    Memory memory(8, start);
    WaitBell room;
    WaitBell work;
    constexpr uint64_t kCount = 50000;
    uint64_t wrong = 0;
    std::thread consumer([&] {
      SpscRing<uint64_t> ring(memory.counters, memory.slots);
      for (uint64_t expected = 1; expected <= kCount; ++expected) {
        uint64_t value = 0;
        work.wait_until([&] { return ring.pop(value); }, std::nullopt);
        wrong += value != expected;
        room.ring();
      }
    });
    SpscRing<uint64_t> ring(memory.counters, memory.slots);
    for (uint64_t i = 1; i <= kCount; ++i) {
      room.wait_until([&] { return ring.push(i); }, std::nullopt);
      work.ring();
    }
    consumer.join();
    EXPECT_TRUE(ring.empty());
    EXPECT_EQ(wrong, 0u);
  }
}

}  // namespace
}  // namespace tailrace::impl
