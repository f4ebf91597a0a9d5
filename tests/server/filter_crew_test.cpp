// FilterCrew: jobs end in the order of their start on any number of threads; buffers are few, and granted in turn and
// when there is time for them; and the results do not depend on the threads.
#include <gtest/gtest.h>
#include <pthread.h>

#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "testing/blocks.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kElements = 1000;

FilterPlan some_plan(uint64_t chunk_bytes) {
  Variable variable;
  variable.compress = {Compressor::zstd, 3, true, chunk_bytes, true};
  Layout layout;
  layout.type = ElementType::int64;
  layout.shape = {kElements};
  return plan_of(variable, layout);
}

// Filters one block and restores it into another.
class Member final : public FilterJob::Owner {
 public:
  Member(FilterCrew& crew, const FilterPlan& plan, std::vector<int>* grants = nullptr, int number = 0)
      : crew_(crew), plan_(plan), grants_(grants), number_(number), block_(block(8 * kElements, 7)) {
    restored_.resize(block_.size());
    crew_.ask(*this);
  }

  bool needs_buffer() const override { return true; }

  void granted(std::optional<FilterBuffer> buffer) override {
    ASSERT_TRUE(buffer);
    if (grants_ != nullptr) grants_->push_back(number_);
    if (begun_ == plan_.chunking.count()) return crew_.give_back(*buffer);
    most_ahead = std::max(most_ahead, begun_ - filtered + 1);
    FilterJob job;
    job.owner = this;
    job.token = begun_;
    job.plan = &plan_;
    job.block = block_;
    job.index = begun_++;
    job.buffer = *buffer;
    crew_.start(job);
    crew_.ask(*this);
  }

  bool ready() const override { return is_ready; }

  void done(const FilterJob& job) override {
    if (job.what == FilterJob::What::filter) {
      EXPECT_EQ(job.token, filtered++);
      EXPECT_LE(job.chunk.bytes, plan_.stored_chunk_bytes());
      FilterJob back = job;
      back.what = FilterJob::What::restore;
      back.block = restored_;
      return crew_.start(back);
    }
    EXPECT_OK(job.status);
    EXPECT_EQ(job.token, restored++);
    crew_.give_back(job.buffer);
  }

  bool whole() const { return restored == plan_.chunking.count() && block_ == restored_; }

  bool is_ready = true;
  uint64_t most_ahead = 0;  // chunks that were begun and not filtered
  uint64_t filtered = 0;
  uint64_t restored = 0;

 private:
  FilterCrew& crew_;
  const FilterPlan plan_;
  std::vector<int>* const grants_;
  const int number_;
  std::vector<std::byte> block_;
  std::vector<std::byte> restored_;
  uint64_t begun_ = 0;
};

// As a server does.
void run_until(FilterCrew& crew, Doorbell& bell, const std::function<bool()>& reached) {
  while (!reached()) {
    bell.prepare();
    if (crew.progress() || reached()) {
      bell.cancel();
      continue;
    }
    bell.sleep();
  }
}

TEST(FilterCrew, FiltersAndRestoresInOrderOnAnyNumberOfThreads) {
  for (const uint32_t threads : {0u, 1u, 4u}) {
    SteadyClock clock;
    Doorbell bell;
    FilterCrew crew(clock, bell, {threads, {}});
    const FilterPlan plan = some_plan(400);
    crew.provide({&plan, 1});
    Member first(crew, plan);
    Member second(crew, plan);
    run_until(crew, bell, [&] { return first.whole() && second.whole(); });
    EXPECT_EQ(first.filtered, plan.chunking.count());
    EXPECT_LE(first.most_ahead, FilterCrew::kBegunAhead * std::max(1u, threads));
    crew.withdraw(first);
    crew.withdraw(second);
  }
}

// The system has no memory for the stack of a thread.
TEST(FilterCrew, FiltersByItselfIfNoThreadCanStart) {
  pthread_attr_t usual;
  pthread_attr_t huge;
  ASSERT_EQ(pthread_getattr_default_np(&usual), 0);
  ASSERT_EQ(pthread_attr_init(&huge), 0);
  ASSERT_EQ(pthread_attr_setstacksize(&huge, size_t{1} << 50), 0);
  ASSERT_EQ(pthread_setattr_default_np(&huge), 0);
  SteadyClock clock;
  Doorbell bell;
  FilterCrew crew(clock, bell, {2, {}});
  const FilterPlan plan = some_plan(400);
  crew.provide({&plan, 1});
  Member member(crew, plan);
  run_until(crew, bell, [&] { return member.whole(); });
  crew.withdraw(member);
  ASSERT_EQ(pthread_setattr_default_np(&usual), 0);
}

TEST(FilterCrew, GrantsItsBuffersInTurn) {
  SteadyClock clock;
  Doorbell bell;
  FilterCrew crew(clock, bell, {0, {}});
  const FilterPlan plan = some_plan(400);
  crew.provide({&plan, 1});
  std::vector<int> grants;
  std::deque<Member> members;
  for (int number = 0; number < 3; ++number) members.emplace_back(crew, plan, &grants, number);
  run_until(crew, bell, [&] { return members[0].whole() && members[1].whole() && members[2].whole(); });
  for (size_t i = 0; i + 3 < grants.size(); ++i) EXPECT_EQ(grants[i + 3], grants[i]);
  for (Member& member : members) crew.withdraw(member);
}

TEST(FilterCrew, WaitsForAMemberThatIsNotReadyAndGrantsNoMoreThanItHas) {
  SteadyClock clock;
  Doorbell bell;
  FilterCrew crew(clock, bell, {0, {}});
  const FilterPlan plan = some_plan(80);
  crew.provide({&plan, 1});
  ASSERT_GT(plan.chunking.count(), FilterCrew::kBuffersBeside);
  Member member(crew, plan);
  member.is_ready = false;
  EXPECT_FALSE(crew.progress());
  EXPECT_EQ(member.filtered, 0u);
  member.is_ready = true;
  crew.pause(true);
  EXPECT_FALSE(crew.progress());
  crew.pause(false);
  EXPECT_TRUE(crew.progress());
  EXPECT_TRUE(member.whole());
  crew.withdraw(member);
}

// Counts its turns, and uses none.
class Onlooker final : public FilterJob::Owner {
 public:
  bool needs_buffer() const override { return needs; }
  void granted(std::optional<FilterBuffer> buffer) override {
    EXPECT_EQ(buffer.has_value(), needs);
    if (buffer) kept.push_back(*buffer);
    ++turns;
  }
  bool ready() const override { return true; }
  void done(const FilterJob&) override { FAIL(); }

  bool needs = true;
  int turns = 0;
  std::vector<FilterBuffer> kept;
};

TEST(FilterCrew, WhoNeedsNoBufferDoesNotWaitForOne) {
  SteadyClock clock;
  Doorbell bell;
  FilterCrew crew(clock, bell, {0, {}});
  const FilterPlan plan = some_plan(400);
  crew.provide({&plan, 1});
  Onlooker keeper;
  for (uint32_t i = 0; i < FilterCrew::kBuffersBeside + 1; ++i) crew.ask(keeper);
  EXPECT_TRUE(crew.progress());
  EXPECT_EQ(keeper.turns, static_cast<int>(FilterCrew::kBuffersBeside)) << "that is all there are without threads";
  Onlooker other;
  crew.ask(other);
  EXPECT_FALSE(crew.progress());
  other.needs = false;
  EXPECT_TRUE(crew.progress());
  EXPECT_EQ(other.turns, 1);
  for (const FilterBuffer& buffer : std::exchange(keeper.kept, {})) crew.give_back(buffer);
  EXPECT_TRUE(crew.progress());
  EXPECT_EQ(keeper.turns, static_cast<int>(FilterCrew::kBuffersBeside) + 1);
  for (const FilterBuffer& buffer : keeper.kept) crew.give_back(buffer);
}

TEST(FilterCrew, BuffersGrowWithWhatIsProvided) {
  SteadyClock clock;
  Doorbell bell;
  FilterCrew crew(clock, bell, {1, {}});
  const FilterPlan small = some_plan(80);
  const FilterPlan large = some_plan(8 * kElements);
  crew.provide({&small, 1});
  Member first(crew, small);
  crew.progress();  // some buffers are in use now
  crew.provide({&large, 1});
  Member second(crew, large);
  run_until(crew, bell, [&] { return first.whole() && second.whole(); });
  crew.withdraw(first);
  crew.withdraw(second);
}

}  // namespace
}  // namespace tailrace::impl
