// BlockState under every interleaving of processes that put bytes into a block, and take it.
#include "collective/buffer/block_state.hpp"

#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "testing/interleave.hpp"

namespace tailrace::impl::testing {
namespace {

using State = collective::BlockState<InterleavedAtomic>;
using Phase = State::Phase;

// A block with a place for each process.
struct Shared {
  State state;
  Watched<int> description{0};  // written by the one that opens it
  std::array<Watched<int>, 3> places{};
  InterleavedAtomic<int> filled{0};
  std::array<int, 3> taken{};  // how often the byte of a process has been taken
  int blocks = 0;              // taken
};

// Takes a block that this process has sealed.
void take(Shared& shared) {
  block_until([&] { return shared.state.look().inside == 0; });
  require(shared.description.get() == 7, "the description of an open block is there");
  for (size_t i = 0; i < shared.places.size(); ++i) {
    shared.taken[i] += shared.places[i].get();
    shared.places[i] = 0;
  }
  ++shared.blocks;
  shared.filled.store(0, std::memory_order_relaxed);
  shared.state.free();
}

// Puts a byte as NodeBuffer does: opens the block if it is free, and takes it when `full` bytes are there. Keeps the
// generation.
void put(Shared& shared, uint32_t process, int full, uint32_t* generation) {
  for (;;) {
    const State::Seen seen = shared.state.look();
    if (seen.phase == Phase::open && shared.state.enter(seen.generation)) {
      *generation = seen.generation;
      break;
    }
    if (seen.phase == Phase::free && shared.state.claim(process)) {
      shared.description = 7;
      *generation = shared.state.look().generation;
      shared.state.open();
      break;
    }
    yield_to_others();
  }
  shared.places[process] = 1;
  const bool is_full = shared.filled.fetch_add(1, std::memory_order_relaxed) + 1 == full;
  shared.state.leave();
  if (is_full && shared.state.seal(*generation, process)) take(shared);
}

InterleavedRun filling(uint32_t processes) {
  auto shared = std::make_shared<Shared>();
  InterleavedRun run;
  for (uint32_t process = 0; process < processes; ++process) {
    run.threads.push_back([shared, process, processes] {
      uint32_t generation = 0;
      put(*shared, process, static_cast<int>(processes), &generation);
    });
  }
  run.check = [shared, processes] {
    require(shared->blocks == 1, "one process takes the block");
    for (uint32_t i = 0; i < processes; ++i) require(shared->taken[i] == 1, "each byte is taken once");
  };
  return run;
}

// One process takes the block as soon as it has put its byte, as if another had asked for it.
InterleavedRun taking_early() {
  auto shared = std::make_shared<Shared>();
  auto generations = std::make_shared<std::array<uint32_t, 2>>();
  InterleavedRun run;
  for (uint32_t process = 0; process < 2; ++process) {
    run.threads.push_back([shared, generations, process] {
      put(*shared, process, 3, &(*generations)[process]);
      if (shared->state.seal((*generations)[process], process)) take(*shared);
    });
  }
  run.check = [shared] {
    require(shared->taken[0] == 1 && shared->taken[1] == 1, "each byte is taken once");
    require(shared->state.look().phase == Phase::free, "the block is free");
  };
  return run;
}

TEST(BlockState, WhoFillsItTakesIt) {
  const auto result = explore([] { return filling(2); });
  EXPECT_TRUE(result.ok()) << result.report();
  EXPECT_TRUE(result.complete);
}

TEST(BlockState, WhoFillsItOfThreeTakesIt) {
  ExploreOptions options;
  options.deviations = 2;
  const auto result = explore([] { return filling(3); }, options);
  EXPECT_TRUE(result.ok()) << result.report();
  EXPECT_TRUE(result.complete);
}

TEST(BlockState, LosesNoByteThatComesWhileItIsTaken) {
  const auto result = explore(taking_early);
  EXPECT_TRUE(result.ok()) << result.report();
  EXPECT_TRUE(result.complete);
}

// The block of a process that has ended is taken by one other.
TEST(BlockState, OneProcessTakesOverFromOneThatHasEnded) {
  const auto result = explore([] {
    auto shared = std::make_shared<Shared>();
    auto taken_over = std::make_shared<InterleavedAtomic<int>>(0);
    EXPECT_TRUE(shared->state.claim(2));
    shared->state.open();
    shared->state.leave();
    EXPECT_TRUE(shared->state.seal(0, 2));
    InterleavedRun run;
    for (uint32_t process = 0; process < 2; ++process) {
      run.threads.push_back([shared, taken_over, process] {
        const State::Seen seen = shared->state.look();
        if (seen.phase != Phase::sealed || seen.owner != 2 || !shared->state.take_over(seen, process)) return;
        taken_over->fetch_add(1, std::memory_order_relaxed);
        shared->state.free();
      });
    }
    run.check = [shared, taken_over] {
      require(taken_over->load() == 1, "one has taken it over");
      require(shared->state.look().phase == Phase::free && shared->state.look().generation == 1, "it is free");
    };
    return run;
  });
  EXPECT_TRUE(result.ok()) << result.report();
  EXPECT_TRUE(result.complete);
}

}  // namespace
}  // namespace tailrace::impl::testing
