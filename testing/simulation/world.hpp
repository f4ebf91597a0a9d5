// World: one thread on which everything of a simulation runs: fibers, timed events, and the choice of the next fiber.
//
// Fibers stand for threads and processes. Each call that could switch to another thread (a system call, a call of the
// storage, a look at the clock) is a point of choice, where the seed decides which fiber continues. Time advances a
// little at each, and jumps to the next event when all sleep. If all sleep and there is no event, that is a deadlock.
// While a world exists, it provides EventFd and futex of this process (sim_os.cpp).
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "testing/sim_clock.hpp"
#include "testing/simulation/fiber.hpp"
#include "testing/simulation/split_dice.hpp"
#include "testing/simulation/story.hpp"

namespace tailrace::impl::simulation {

// Ends a fiber that was killed, wherever it sleeps. The body catches it.
struct Killed {};

struct WorldPlan {
  uint32_t switch_percent = 30;       // chance that the fiber suspends at a point of choice
  uint32_t spurious_percent = 5;      // of futex waits, those that return spuriously
  uint64_t nanoseconds_a_step = 200;  // most time that a point of choice takes
  uint64_t max_steps = 5'000'000;     // most points of choice in one run; more is a failure (it spins)
};

class World {
 public:
  using FiberId = size_t;

  World(uint64_t seed, const WorldPlan& plan, Story& story);
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  // Returns the existing one.
  static World& now();

  // ---- from anywhere ----

  // Adds a fiber. `weight`: how often it is chosen among those that can continue.
  FiberId spawn(std::string name, uint64_t weight, std::function<void()> body);
  // ---- from outside ----

  // Runs until all fibers have ended. May be called again when there are more.
  void run();

  // ---- from fibers and events ----
  uint64_t steps() const { return steps_; }
  const Clock& clock() const { return ticking_; }
  Nanoseconds time() const { return clock_.now(); }
  Story& story() { return story_; }
  SplitDice& dice() { return dice_; }
  bool spurious() { return dice_.chance(plan_.spurious_percent); }

  // A point of choice. Does nothing outside of fibers, in events, and while an exception propagates.
  void choose();
  // Makes the calling fiber sleep until wake(key), or until `timeout` has passed.
  void sleep(const void* key, std::optional<Nanoseconds> timeout);
  void wake(const void* key);
  // Calls `event` after `delay`, between the steps of fibers.
  void after(Nanoseconds delay, std::function<void()> event);
  // Kills the fiber: it wakes, and end_if_killed() throws Killed in it.
  void kill(FiberId fiber);
  void end_if_killed();
  // Stops the fiber for ever at a point of choice, as kill -9 does. What it holds is never freed.
  void abandon(FiberId fiber);

  // Counters of simulated eventfds.
  int new_event();
  uint64_t& event(int number) { return events_[static_cast<size_t>(number)]; }

 private:
  struct Thread {
    std::string name;
    uint64_t weight;
    std::unique_ptr<Fiber> fiber;
    const void* asleep_on = nullptr;
    std::optional<Nanoseconds> deadline;
    bool killed = false;
    bool abandoned = false;
    bool over() const { return abandoned || fiber->ended(); }
    bool can_run() const { return !over() && asleep_on == nullptr; }
  };

  // The world's clock; each look at it is a point of choice.
  class Ticking final : public Clock {
   public:
    explicit Ticking(World& world) : world_(world) {}
    Nanoseconds now() const override {
      world_.choose();
      return world_.clock_.now();
    }

   private:
    World& world_;
  };

  void step();
  void fire_due();
  // Returns the next moment at which something happens by itself; nothing if there is none.
  std::optional<Nanoseconds> next_moment() const;
  std::optional<FiberId> pick();
  [[noreturn]] void deadlock();

  const WorldPlan plan_;
  Story& story_;
  SplitDice dice_;
  SimClock clock_;
  Ticking ticking_;
  std::deque<Thread> threads_;
  std::optional<FiberId> current_;
  bool in_event_ = false;
  uint64_t steps_ = 0;
  uint64_t scheduled_ = 0;
  std::map<std::pair<Nanoseconds, uint64_t>, std::function<void()>> agenda_;
  std::vector<uint64_t> events_;
};

}  // namespace tailrace::impl::simulation
