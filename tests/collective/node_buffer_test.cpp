// NodeBuffer: what processes put into a shared buffer is given out once, in large pieces, and nothing else is.
#include "collective/buffer/node_buffer.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <thread>

#include "testing/dice.hpp"
#include "testing/seeds.hpp"

namespace {

using namespace tailrace::collective;
using tailrace::impl::for_seeds;
using Place = NodeBuffer::Place;

constexpr uint64_t kBlock = NodeBuffer::kBlockBytes;

// The processes of a node, their buffer, and a file that shows what they have written.
class Node {
 public:
  explicit Node(uint32_t members, uint64_t file_bytes = 8 * kBlock)
      : file(file_bytes), times(file_bytes), bytes_(NodeBuffer::size(members)) {
    memory_ = static_cast<std::byte*>(
        ::mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0));
    for (uint32_t rank = 0; rank < members; ++rank) {
      NodeBuffer::Parts parts;
      parts.memory = {memory_, bytes_};
      parts.members = members;
      parts.rank = rank;
      parts.provide = [this, rank](uint64_t, uint64_t) {
        if (rank == ends) throw End();
        return blocks_left_-- > 0;
      };
      parts.lives = [this](uint32_t process) { return process != ends; };
      parts.write = [this, rank](uint64_t number, std::span<const tailrace_extent> extents, const std::byte* from) {
        if (rank == ends) throw End();
        const std::lock_guard lock(mutex_);
        writes.push_back({rank, number, {extents.begin(), extents.end()}});
        write(extents, from);
      };
      processes_.push_back(std::make_unique<NodeBuffer>(std::move(parts)));
    }
  }
  ~Node() { ::munmap(memory_, bytes_); }

  NodeBuffer& process(uint32_t rank) { return *processes_[rank]; }
  void give_blocks(int count) { blocks_left_ = count; }

  // Puts pieces with bytes that tell process and place. What has found no block is written at once.
  std::vector<Place> put(uint32_t rank, uint64_t number, const std::vector<tailrace_extent>& extents) {
    std::vector<std::byte> bytes;
    for (const tailrace_extent& one : extents) {
      for (uint64_t at = one.offset; at < one.offset + one.length; ++at) bytes.push_back(byte_of(rank, at));
    }
    std::vector<Place> places;
    std::vector<tailrace_extent> left;
    process(rank).put(number, extents, bytes.data(), places, left);
    std::vector<std::byte> rest;
    for (const tailrace_extent& one : left) {
      for (uint64_t at = one.offset; at < one.offset + one.length; ++at) rest.push_back(byte_of(rank, at));
    }
    const std::lock_guard lock(mutex_);
    write(left, rest.data());
    return places;
  }
  static std::byte byte_of(uint32_t rank, uint64_t at) {
    return static_cast<std::byte>(1 + (rank * 83 + at * 7) % 255);
  }

  struct Write {
    uint32_t rank;
    uint64_t number;
    std::vector<tailrace_extent> extents;
  };
  std::vector<Write> writes;    // of the buffer
  std::vector<std::byte> file;  // its bytes
  std::vector<uint8_t> times;   // how often each byte of it has been written
  uint32_t ends = UINT32_MAX;   // a process that ends when it next needs anything outside the buffer, or has done so
  struct End {};

 private:
  void write(std::span<const tailrace_extent> extents, const std::byte* from) {
    for (const tailrace_extent& one : extents) {
      ASSERT_LE(one.offset + one.length, file.size());
      std::copy_n(from, one.length, &file[one.offset]);
      for (uint64_t at = one.offset; at < one.offset + one.length; ++at) ++times[at];
      from += one.length;
    }
  }

  std::mutex mutex_;  // guards the file and the writes
  uint64_t bytes_;
  std::byte* memory_ = nullptr;
  std::atomic<int> blocks_left_{NodeBuffer::kBlocks};
  std::vector<std::unique_ptr<NodeBuffer>> processes_;
};

std::vector<tailrace_extent> rows(uint64_t begin, uint64_t length, uint64_t step, uint64_t count) {
  std::vector<tailrace_extent> extents;
  for (uint64_t i = 0; i < count; ++i) extents.push_back({begin + i * step, length});
  return extents;
}

// The second write uses the blocks of the first one again.
TEST(NodeBuffer, InterleavedPiecesLeaveAsOne) {
  Node node(2);
  for (const uint64_t number : {uint64_t{1}, uint64_t{1} + NodeBuffer::kBlocks}) {
    node.writes.clear();
    node.put(0, number, rows(0, 512, 1024, 2 * kBlock / 1024));
    EXPECT_TRUE(node.writes.empty());
    node.put(1, number, rows(512, 512, 1024, 2 * kBlock / 1024));
    ASSERT_EQ(node.writes.size(), 2U) << "who fills a block takes it, before all have arrived";
    for (uint64_t i = 0; i < 2; ++i) {
      EXPECT_EQ(node.writes[i].rank, 1U);
      ASSERT_EQ(node.writes[i].extents.size(), 1U);
      EXPECT_EQ(node.writes[i].extents[0].offset, i * kBlock);
      EXPECT_EQ(node.writes[i].extents[0].length, kBlock);
    }
  }
  for (uint64_t at = 0; at < 2 * kBlock; ++at) {
    ASSERT_EQ(node.file[at], Node::byte_of(at % 1024 < 512 ? 0 : 1, at)) << at;
  }
}

TEST(NodeBuffer, WhatHasHolesIsTakenByTheLastThatArrives) {
  Node node(3);
  node.put(0, 1, rows(0, 3, 10, 1000));
  node.process(0).arrive(1);
  node.put(2, 1, rows(6, 2, 10, 1000));
  node.process(2).arrive(1);
  EXPECT_EQ(node.process(0).behind(1), std::optional<uint32_t>(1));
  EXPECT_TRUE(node.writes.empty());
  node.put(1, 1, rows(3, 3, 10, 1000));
  node.process(1).arrive(1);
  EXPECT_EQ(node.process(0).behind(1), std::nullopt);
  ASSERT_EQ(node.writes.size(), 1U);
  EXPECT_EQ(node.writes[0].extents.size(), 1000U) << "the three pieces beside each other are one";
  for (uint64_t at = 0; at < 10'000; ++at) ASSERT_EQ(node.times[at], at % 10 < 8 ? 1 : 0) << at;
}

TEST(NodeBuffer, WhoIsAskedTakesWhatIsThere) {
  Node node(2);
  const std::vector<Place> places = node.put(0, 1, {{100, 50}});
  ASSERT_EQ(places.size(), 1U);
  EXPECT_FALSE(node.process(0).is_taken(places[0]));
  node.process(0).take(places[0]);
  EXPECT_TRUE(node.process(0).is_taken(places[0]));
  ASSERT_EQ(node.writes.size(), 1U);
  node.put(1, 1, {{0, 100}, {150, 50}});
  node.process(0).arrive(1);
  node.process(1).arrive(1);
  ASSERT_EQ(node.writes.size(), 2U) << "bytes that come later get another block";
  for (uint64_t at = 0; at < 200; ++at) ASSERT_EQ(node.times[at], 1);
}

// Also those that look for their blocks at nearly the same places: each third one.
TEST(NodeBuffer, WritesAreApart) {
  for (const uint64_t later : {2, 3}) {
    Node node(2);
    node.put(0, 1, {{0, 10}});
    node.process(0).arrive(1);
    node.put(0, later, {{20, 10}});
    node.process(0).arrive(later);
    node.put(1, 1, {{10, 10}});
    node.process(1).arrive(1);
    ASSERT_EQ(node.writes.size(), 1U) << "process 1 has not come as far as the later write";
    EXPECT_EQ(node.writes[0].number, 1U);
    EXPECT_EQ(node.writes[0].extents[0].length, 20U);
    node.process(1).arrive(later);
    ASSERT_EQ(node.writes.size(), 2U);
    EXPECT_EQ(node.writes[1].number, later);
  }
}

TEST(NodeBuffer, BytesWithoutABlockAreLeftToTheirProcess) {
  Node node(2, 400 * kBlock);
  node.put(0, 1, rows(0, 100, kBlock, 400));
  node.process(0).arrive(1);
  node.process(1).arrive(1);
  for (uint64_t i = 0; i < 400; ++i) ASSERT_EQ(node.times[i * kBlock], 1);
  EXPECT_LE(node.writes.size(), NodeBuffer::kBlocks);
}

TEST(NodeBuffer, WithoutMemoryAllIsLeft) {
  Node node(2);
  node.give_blocks(1);
  EXPECT_EQ(node.put(0, 1, {{0, 10}, {kBlock, 10}, {2 * kBlock, 10}}).size(), 1U);
  node.process(0).arrive(1);
  node.process(1).arrive(1);
  EXPECT_EQ(node.writes.size(), 1U);
  for (uint64_t i = 0; i < 3; ++i) EXPECT_EQ(node.times[i * kBlock], 1);
}

// The processes write the same bytes, which MPI leaves undefined: they are those of one of them, and nothing else is
// written.
TEST(NodeBuffer, OverlappingPiecesWriteNothingBetweenThem) {
  Node node(2);
  for (uint32_t rank = 0; rank < 2; ++rank) node.put(rank, 1, {{0, kBlock / 2 + 5}, {kBlock / 2 + 100, 13}});
  for (uint32_t rank = 0; rank < 2; ++rank) node.process(rank).arrive(1);
  for (uint64_t at = 0; at < kBlock; ++at) {
    const bool is_put = at < kBlock / 2 + 5 || (at >= kBlock / 2 + 100 && at < kBlock / 2 + 113);
    ASSERT_EQ(node.times[at] > 0, is_put) << at;
  }
}

TEST(NodeBuffer, AnotherProcessWritesTheBlockOfOneThatHasEnded) {
  Node node(2);
  const std::vector<Place> places = node.put(0, 1, {{0, 10}});
  const std::vector<Place> same = node.put(1, 1, {{10, 10}});
  node.ends = 1;
  EXPECT_THROW(node.process(1).take(same[0]), Node::End) << "it ends while it writes the block";
  node.process(0).take(places[0]);
  ASSERT_EQ(node.writes.size(), 1U);
  EXPECT_EQ(node.writes[0].rank, 0U);
  EXPECT_EQ(node.writes[0].extents[0].length, 20U);
  EXPECT_TRUE(node.process(0).is_taken(places[0]));
}

TEST(NodeBuffer, AProcessThatEndsWhileItOpensABlockHoldsUpNobody) {
  Node node(2);
  node.ends = 1;
  EXPECT_THROW(node.put(1, 1, {{0, 10}}), Node::End);
  EXPECT_TRUE(node.put(0, 1, {{10, 10}}).empty());
  for (uint64_t at = 0; at < 30; ++at) EXPECT_EQ(node.times[at], at >= 10 && at < 20 ? 1 : 0);
}

// Processes as threads put random pieces of a file into the buffer, a few writes ahead of one another. Now and then
// one takes what it has put. Each byte is written once, and none that was not put.
TEST(NodeBuffer, RandomProcessesLoseNoByte) {
  for_seeds(10, [](uint64_t seed) {
    tailrace::impl::Dice plan(seed);
    const auto members = static_cast<uint32_t>(plan.between(2, 4));
    const uint64_t numbers = plan.between(1, 6);
    const uint64_t per_write = plan.between(1, 3) * kBlock / 2 + plan.between(0, 1000);
    Node node(members, numbers * per_write);
    if (plan.chance(25)) node.give_blocks(static_cast<int>(plan.between(0, 3)));
    std::map<std::pair<uint32_t, uint64_t>, std::vector<tailrace_extent>> pieces;
    std::vector<uint32_t> owner(numbers * per_write, UINT32_MAX);
    for (uint64_t number = 1; number <= numbers; ++number) {
      const bool has_holes = plan.chance(50);
      uint64_t at = (number - 1) * per_write;
      while (at < number * per_write) {
        const uint64_t length = std::min(plan.between(1, plan.chance(10) ? 100'000 : 700), number * per_write - at);
        const auto rank = static_cast<uint32_t>(plan.between(0, members - 1));
        if (!has_holes || !plan.chance(33)) {
          pieces[{rank, number}].push_back({at, length});
          std::fill_n(&owner[at], length, rank);
        }
        at += length;
      }
    }
    std::vector<std::thread> threads;
    for (uint32_t rank = 0; rank < members; ++rank) {
      threads.emplace_back([&, rank] {
        tailrace::impl::Dice dice(seed * 31 + rank);
        for (uint64_t number = 1; number <= numbers; ++number) {
          const std::vector<Place> places = node.put(rank, number, pieces[{rank, number}]);
          for (const Place& place : places) {
            if (dice.chance(5)) node.process(rank).take(place);
          }
          node.process(rank).arrive(number);
        }
      });
    }
    for (std::thread& thread : threads) thread.join();
    for (uint64_t at = 0; at < owner.size(); ++at) {
      ASSERT_EQ(node.times[at], owner[at] == UINT32_MAX ? 0 : 1) << "byte " << at;
      if (owner[at] == UINT32_MAX) continue;
      ASSERT_EQ(node.file[at], Node::byte_of(owner[at], at)) << "byte " << at;
    }
  });
}

}  // namespace
