// The simulated world itself: time, sleep, the choice of the next fiber, and the detection of a deadlock.
#include "testing/simulation/world.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "base/sync/doorbell.hpp"
#include "base/sync/wait_bell.hpp"

namespace tailrace::impl::simulation {
namespace {

using std::chrono::milliseconds;

TEST(World, TimeJumpsToTheNextEventWhenAllSleep) {
  Story story(false);
  World world(1, {}, story);
  Nanoseconds woken{0};
  world.spawn("sleeper", 1, [&] {
    world.sleep(&woken, std::nullopt);
    woken = world.time();
  });
  world.after(milliseconds(50), [&] { world.wake(&woken); });
  world.run();
  EXPECT_GE(woken, milliseconds(50));
  EXPECT_LT(woken, milliseconds(51));
}

TEST(World, ASeedRepeatsItselfAndSeedsDiffer) {
  const auto order = [](uint64_t seed) {
    Story story(false);
    World world(seed, {.switch_percent = 50}, story);
    std::string said;
    for (const char name : {'a', 'b', 'c'}) {
      world.spawn(std::string(1, name), 1, [&, name] {
        for (int i = 0; i < 5; ++i) {
          said += name;
          world.choose();
        }
      });
    }
    world.run();
    return said;
  };
  std::set<std::string> orders;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    EXPECT_EQ(order(seed), order(seed));
    orders.insert(order(seed));
  }
  EXPECT_GT(orders.size(), 40u);
}

TEST(World, BellsWakeAcrossFibers) {
  for (uint64_t seed = 0; seed < 200; ++seed) {
    Story story(false);
    World world(seed, {.switch_percent = 50, .spurious_percent = 20}, story);
    Doorbell doorbell;
    WaitBell bell;
    bool asked = false;
    bool answered = false;
    world.spawn("client", 1, [&] {
      asked = true;
      doorbell.ring();
      EXPECT_TRUE(bell.wait_until([&] { return answered; }, std::nullopt, world.clock()));
      EXPECT_FALSE(bell.wait_until([] { return false; }, milliseconds(3), world.clock()));
    });
    world.spawn("server", 1, [&] {
      while (!asked) {
        doorbell.prepare();
        if (asked) {
          doorbell.cancel();
        } else {
          doorbell.sleep();
        }
      }
      answered = true;
      bell.ring();
    });
    world.run();
    EXPECT_GE(world.time(), milliseconds(3));
  }
}

TEST(World, AKilledFiberEndsWhereItSleeps) {
  Story story(false);
  World world(1, {}, story);
  bool gone = false;
  WaitBell bell;
  const World::FiberId fiber = world.spawn("client", 1, [&] {
    try {
      bell.wait_until([] { return false; }, std::nullopt, world.clock());
    } catch (const Killed&) {
      gone = true;
    }
  });
  world.after(milliseconds(1), [&] { world.kill(fiber); });
  world.run();
  EXPECT_TRUE(gone);
}

TEST(WorldDeathTest, ADeadlockIsAFinding) {
  const auto deadlock = [] {
    Story story(false);
    World world(1, {}, story);
    world.spawn("lonely", 1, [&] { world.sleep(&world, std::nullopt); });
    world.run();
  };
  EXPECT_EXIT(deadlock(), ::testing::ExitedWithCode(kFoundSomething), "checker deadlock: lonely sleep");
}

TEST(WorldDeathTest, WhoeverSpinsIsAFinding) {
  const auto spin = [] {
    Story story(false);
    World world(1, {.max_steps = 1000}, story);
    world.spawn("dizzy", 1, [&] {
      for (;;) world.choose();
    });
    world.run();
  };
  EXPECT_EXIT(spin(), ::testing::ExitedWithCode(kFoundSomething), "checker progress: more than 1000 steps");
}

}  // namespace
}  // namespace tailrace::impl::simulation
