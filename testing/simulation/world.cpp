#include "testing/simulation/world.hpp"

#include <algorithm>
#include <exception>

#include "base/assert.hpp"

namespace tailrace::impl::simulation {
namespace {

// Each process has one world, which replaces its kernel.
World* the_world = nullptr;

}  // namespace

World::World(uint64_t seed, const WorldPlan& plan, Story& story)
    : plan_(plan), story_(story), dice_(seed, "world"), ticking_(*this) {
  TAILRACE_REQUIRE(the_world == nullptr);
  the_world = this;
  story_.set_clock(&clock_);
}

World::~World() {
  for (Thread& thread : threads_) {
    if (!thread.fiber->ended()) Fiber::bury(std::move(thread.fiber));
  }
  story_.set_clock(nullptr);
  the_world = nullptr;
}

World& World::now() {
  TAILRACE_REQUIRE(the_world != nullptr);
  return *the_world;
}

World::FiberId World::spawn(std::string name, uint64_t weight, std::function<void()> body) {
  threads_.push_back({std::move(name), weight, std::make_unique<Fiber>(std::move(body)), nullptr, {}, false, false});
  return threads_.size() - 1;
}

void World::run() {
  for (;;) {
    fire_due();
    if (const auto chosen = pick()) {
      story_.mix(*chosen);
      current_ = chosen;
      threads_[*chosen].fiber->resume();
      current_.reset();
      continue;
    }
    const bool over =
        std::all_of(threads_.begin(), threads_.end(), [](const Thread& thread) { return thread.over(); });
    if (over) return;
    const auto next = next_moment();
    if (!next) deadlock();
    clock_.advance(std::max(*next - clock_.now(), Nanoseconds::zero()));
    story_.mix(static_cast<uint64_t>(clock_.now().count()));
  }
}

void World::choose() {
  if (!current_ || in_event_ || std::uncaught_exceptions() > 0) return;
  step();
  Thread& self = threads_[*current_];
  if (dice_.chance(plan_.switch_percent) || self.abandoned) self.fiber->suspend();
}

void World::step() {
  if (++steps_ > plan_.max_steps) {
    story_.fail("progress",
                fmt::format("more than {} steps: something spins ('{}')", plan_.max_steps, threads_[*current_].name));
  }
  clock_.advance(Nanoseconds(dice_.between(1, plan_.nanoseconds_a_step)));
  fire_due();
}

void World::sleep(const void* key, std::optional<Nanoseconds> timeout) {
  TAILRACE_REQUIRE(current_.has_value());
  Thread& self = threads_[*current_];
  self.asleep_on = key;
  if (timeout) self.deadline = clock_.now() + *timeout;
  self.fiber->suspend();
}

void World::wake(const void* key) {
  for (Thread& thread : threads_) {
    if (thread.asleep_on != key) continue;
    thread.asleep_on = nullptr;
    thread.deadline.reset();
  }
}

void World::after(Nanoseconds delay, std::function<void()> event) {
  agenda_.emplace(std::pair(clock_.now() + delay, scheduled_++), std::move(event));
}

void World::kill(FiberId fiber) {
  threads_[fiber].killed = true;
  threads_[fiber].asleep_on = nullptr;
  threads_[fiber].deadline.reset();
}

void World::abandon(FiberId fiber) {
  threads_[fiber].abandoned = true;
  threads_[fiber].deadline.reset();
}

void World::end_if_killed() {
  if (current_ && threads_[*current_].killed) throw Killed();
}

int World::new_event() {
  events_.push_back(0);
  return static_cast<int>(events_.size() - 1);
}

void World::fire_due() {
  if (in_event_) return;
  in_event_ = true;
  while (!agenda_.empty() && agenda_.begin()->first.first <= clock_.now()) {
    const auto event = std::move(agenda_.begin()->second);
    agenda_.erase(agenda_.begin());
    event();
  }
  for (Thread& thread : threads_) {
    if (!thread.deadline || *thread.deadline > clock_.now()) continue;
    thread.asleep_on = nullptr;
    thread.deadline.reset();
  }
  in_event_ = false;
}

std::optional<Nanoseconds> World::next_moment() const {
  std::optional<Nanoseconds> next;
  if (!agenda_.empty()) next = agenda_.begin()->first.first;
  for (const Thread& thread : threads_) {
    if (thread.deadline && (!next || *thread.deadline < *next)) next = thread.deadline;
  }
  return next;
}

std::optional<World::FiberId> World::pick() {
  uint64_t weights = 0;
  for (const Thread& thread : threads_) weights += thread.can_run() ? thread.weight : 0;
  if (weights == 0) return std::nullopt;
  uint64_t drawn = dice_.below(weights);
  for (FiberId id = 0; id < threads_.size(); ++id) {
    if (!threads_[id].can_run()) continue;
    if (drawn < threads_[id].weight) return id;
    drawn -= threads_[id].weight;
  }
  TAILRACE_ASSERT(false);
}

void World::deadlock() {
  std::string asleep;
  for (const Thread& thread : threads_) {
    if (!thread.over()) asleep += (asleep.empty() ? "" : ", ") + thread.name;
  }
  story_.fail("deadlock", fmt::format("{} sleep, and nothing will ever wake them", asleep));
}

}  // namespace tailrace::impl::simulation
