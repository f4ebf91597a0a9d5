// Random programs on a whole session, with faults, compared with a plain model: a published file has exactly the
// accepted blocks; every other iteration was reported.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "testing/blocks.hpp"
#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

constexpr int64_t kIterations = 12;
const char* const kVariables[] = {"a", "b", "c"};

struct ModelIteration {
  std::map<std::string, std::vector<std::byte>> blocks;       // the last accepted of each variable
  std::map<std::string, std::vector<std::byte>> uncommitted;  // allocated and filled
  std::map<std::string, std::byte*> memory;                   // where
  std::vector<std::string> events;
  bool ended = false;
  bool dropped = false;
  bool failed = false;  // a failure of it, other than of a read, was reported
  bool used() const { return !blocks.empty() || !events.empty(); }
};

class SessionProgram {
 public:
  SessionProgram(uint64_t seed, bool filtered)
      : dice_(seed), filtered_(filtered), config_(some_config()), rig_(config_, options(seed)) {}

  void run() {
    const uint64_t steps = dice_.between(20, 150);
    for (uint64_t i = 0; i < steps && !::testing::Test::HasFailure(); ++i) {
      step();
      if (const auto status = rig_.client().earlier()) note(status->fault());
    }
    commit_all();
    for (auto& [number, iteration] : iterations_) {
      if (!iteration.ended && dice_.chance(90)) end(number);
    }
    rig_.client().finish();
    for (const Fault& fault : rig_.told()) note(fault);
    rig_.stop();
    EXPECT_EQ(told_, rig_.failures().total()) << "each failure is told once";
    EXPECT_EQ(rig_.failures().unseen(), 0u);
    for (const Fault& fault : rig_.told()) ADD_FAILURE() << "after the last verb: " << fault.message;
    EXPECT_LE(rig_.client().pool().peak(), config_.memory.budget);
    rig_.client().pool().collect();
    EXPECT_EQ(rig_.client().pool().held(), 0u);
    EXPECT_EQ(rig_.client().counters().blocks_accepted, accepted_);
    EXPECT_EQ(rig_.counters().blocks_written.get() + rig_.counters().blocks_failed.get(), accepted_);
    for (const auto& [number, iteration] : iterations_) check(number, iteration);
  }

 private:
  Config some_config() {
    Config config = small_config(dice_.between(2, 8));
    const WhenFull when_full[] = {WhenFull::block, WhenFull::sync, WhenFull::drop};
    config.memory.when_full = when_full[dice_.below(3)];
    const Durability durability[] = {Durability::accepted, Durability::written, Durability::durable};
    config.storage.durability = durability[dice_.below(3)];
    if (filtered_) {
      const uint64_t chunks = dice_.between(1, 5);
      config.variables[0].compress = {Compressor::zstd, 3, true, 4096 / chunks, dice_.chance(50)};
      config.variables[1].compress = {Compressor::deflate, 4, dice_.chance(50), 4096 / chunks, dice_.chance(50)};
    }
    return config;
  }

  SessionRigOptions options(uint64_t seed) {
    SessionRigOptions options;
    options.seed = seed;
    options.filter_threads = static_cast<uint32_t>(dice_.below(4));
    FaultPlan& plan = options.plan;
    plan.short_percent = dice_.chance(50) ? 30 : 0;
    plan.eintr_percent = dice_.chance(50) ? 20 : 0;
    plan.eagain_percent = dice_.chance(50) ? 20 : 0;
    plan.delay_reaps = static_cast<uint32_t>(dice_.below(20));
    plan.reorder = dice_.chance(50);
    const FaultOn kinds[] = {FaultOn::write,  FaultOn::write, FaultOn::write, FaultOn::open,
                             FaultOn::rename, FaultOn::sync,  FaultOn::read,  FaultOn::remove};
    for (uint64_t rules = dice_.below(4); rules > 0; --rules) {
      FaultRule rule;
      rule.on = kinds[dice_.below(std::size(kinds))];
      if (dice_.chance(80)) rule.path_contains = "_00000" + std::to_string(dice_.below(10)) + ".h5";
      rule.first = dice_.below(6);
      rule.times = dice_.chance(60) ? 1 : FaultRule::kForever;
      rule.error = dice_.chance(50) ? EIO : ENOSPC;
      rule.torn = rule.on == FaultOn::write && dice_.chance(50);
      plan.rules.push_back(rule);
    }
    return options;
  }

  // Notes the failure of an accepted request that a call or earlier() has reported.
  void note(const Fault& fault) {
    ++told_;
    EXPECT_FALSE(fault.message.empty());
    if (fault.operation != "read") iterations_[fault.iteration].failed = true;
  }

  void note_end_of(const Status& status) {
    if (!status.ok()) note(status.fault());
  }

  uint64_t bytes_of(const std::string& name) const { return name == "c" ? 100 : 4096; }

  // Returns true if the verb was refused because the iteration is dropped, which is required if it was dropped
  // before.
  bool dropped(ModelIteration& iteration, const Status& status) {
    if (iteration.dropped) {
      EXPECT_EQ(status.code(), TAILRACE_DROPPED);
    }
    if (status.code() != TAILRACE_DROPPED) return false;
    EXPECT_EQ(config_.memory.when_full, WhenFull::drop);
    iteration.dropped = true;
    return true;
  }

  void step() {
    const auto number = static_cast<int64_t>(dice_.below(kIterations));
    ModelIteration& iteration = iterations_[number];
    const std::string name = kVariables[dice_.below(3)];
    const uint64_t kind = dice_.below(100);
    if (kind < 10) return read(number, name);
    if (kind < 14) {
      const Status flushed = rig_.client().flush();
      EXPECT_OK(flushed);
      return;
    }
    if (iteration.ended) {
      EXPECT_EQ(rig_.client().write(name, number, page(1).data()).code(), TAILRACE_WRONG_ORDER);
      return;
    }
    if (kind < 50) return write(number, iteration, name);
    if (kind < 62) return alloc(number, iteration, name);
    if (kind < 72) return commit(number, iteration, name);
    if (kind < 84) return borrow(number, iteration, name);
    if (kind < 90) return signal(number, iteration);
    if (iteration.uncommitted.empty()) return end(number);
    EXPECT_EQ(rig_.client().end_iteration(number).code(), TAILRACE_WRONG_ORDER);
  }

  void accept(ModelIteration& iteration, const std::string& name, std::vector<std::byte> data) {
    ++accepted_;
    iteration.blocks[name] = std::move(data);
  }

  void write(int64_t number, ModelIteration& iteration, const std::string& name) {
    std::vector<std::byte> data = block(bytes_of(name), ++blocks_);
    const uint64_t through = rig_.client().counters().blocks_written_through;
    const Status status = rig_.client().write(name, number, data.data());
    if (dropped(iteration, status) || status.code() == TAILRACE_BUDGET_HELD) return;
    note_end_of(status);
    if (!status.ok()) {
      EXPECT_EQ(rig_.client().counters().blocks_written_through, through + 1) << said(status);
    }
    accept(iteration, name, std::move(data));
  }

  void alloc(int64_t number, ModelIteration& iteration, const std::string& name) {
    const Result<void*> memory = rig_.client().alloc(name, number);
    if (dropped(iteration, memory.status()) || memory.status().code() == TAILRACE_BUDGET_HELD) return;
    ASSERT_OK(memory.status());
    std::vector<std::byte> data = block(bytes_of(name), ++blocks_);
    iteration.memory[name] = static_cast<std::byte*>(memory.value());
    std::copy(data.begin(), data.end(), iteration.memory[name]);
    iteration.uncommitted[name] = std::move(data);
  }

  void commit(int64_t number, ModelIteration& iteration, const std::string& name) {
    const auto found = iteration.uncommitted.find(name);
    const Status status = rig_.client().commit(name, number);
    if (found == iteration.uncommitted.end()) {
      EXPECT_EQ(status.code(), TAILRACE_WRONG_ORDER);
      return;
    }
    std::vector<std::byte> data = std::move(found->second);
    iteration.uncommitted.erase(found);
    if (dropped(iteration, status)) return;
    ASSERT_OK(status);
    accept(iteration, name, std::move(data));
  }

  void commit_all() {
    for (auto& [number, iteration] : iterations_) {
      while (!iteration.uncommitted.empty()) {
        const std::string name = iteration.uncommitted.begin()->first;
        commit(number, iteration, name);
      }
    }
  }

  void borrow(int64_t number, ModelIteration& iteration, const std::string& name) {
    lent_.push_back(std::make_unique<std::vector<std::byte>>(block(bytes_of(name), ++blocks_)));
    const Result<uint64_t> ticket = rig_.client().borrow(name, number, lent_.back()->data());
    if (dropped(iteration, ticket.status())) return;
    ASSERT_OK(ticket.status());
    accept(iteration, name, *lent_.back());
    if (dice_.chance(50)) return;
    const Status status = rig_.client().wait(ticket.value(), std::nullopt);
    note_end_of(status);
    std::fill(lent_.back()->begin(), lent_.back()->end(), std::byte{0xee});  // the caller may use it again
  }

  void signal(int64_t number, ModelIteration& iteration) {
    const std::string event = "event " + std::to_string(dice_.below(100));
    const Status status = rig_.client().signal(event, number);
    if (dropped(iteration, status)) return;
    ASSERT_OK(status);
    iteration.events.push_back(event);
  }

  void end(int64_t number) {
    ModelIteration& iteration = iterations_[number];
    const Status status = rig_.client().end_iteration(number);
    iteration.ended = true;
    if (!dropped(iteration, status)) {
      ASSERT_OK(status);
    }
  }

  void read(int64_t number, const std::string& name) {
    const ModelIteration& iteration = iterations_[number];
    std::vector<std::byte> data(bytes_of(name));
    const Status status = rig_.client().read(name, number, data.data());
    const auto found = iteration.blocks.find(name);
    if (!status.ok()) {
      ++told_;
      if (found == iteration.blocks.end() || iteration.dropped) return;
      if (status.code() == TAILRACE_NOT_FOUND) lost_.insert(number);
      return;
    }
    ASSERT_NE(found, iteration.blocks.end());
    EXPECT_FALSE(iteration.dropped);
    EXPECT_EQ(data, found->second) << name << " of iteration " << number;
  }

  // A failed sync of the directory is reported, though the file exists.
  bool only_its_name_is_not_durable() const { return config_.storage.durability == Durability::durable; }

  void check(int64_t number, const ModelIteration& iteration) const {
    SCOPED_TRACE("iteration " + std::to_string(number));
    const std::string path = rig_.path(number);
    const bool there = rig_.exists(path);
    if (lost_.contains(number)) {
      EXPECT_TRUE(iteration.failed) << "a read did not find a block that was accepted";
    }
    if (iteration.dropped) {
      EXPECT_FALSE(there);
      if (!iteration.failed) {
        EXPECT_FALSE(rig_.exists(path + ".part"));
      }
      return;
    }
    if (!iteration.ended || !iteration.used()) {
      EXPECT_FALSE(there);
      if (!iteration.blocks.empty()) {
        EXPECT_TRUE(iteration.failed) << "not ended, and not told";
      }
      return;
    }
    if (!iteration.failed) {
      EXPECT_TRUE(there) << "neither published nor told of";
      EXPECT_FALSE(rig_.exists(path + ".part"));
    } else if (!only_its_name_is_not_durable()) {
      EXPECT_FALSE(there) << "published after a failure";
    }
    if (!there) return;
    const std::unique_ptr<Hdf5File> file = rig_.published(number);
    ASSERT_NE(file, nullptr) << "half a file was published";
    EXPECT_EQ(file->variables(number).size(), iteration.blocks.size());
    for (const auto& [name, data] : iteration.blocks) EXPECT_EQ(file->read(number, name), data) << name;
    EXPECT_EQ(file->texts("/data/" + std::to_string(number), "tailraceSignals"), iteration.events);
  }

  Dice dice_;
  const bool filtered_;  // whether a and b are compressed
  const Config config_;
  std::vector<std::unique_ptr<std::vector<std::byte>>> lent_;  // must outlive the session
  SessionRig rig_;
  std::map<int64_t, ModelIteration> iterations_;
  std::set<int64_t> lost_;  // iterations of which a read did not find a block
  uint64_t blocks_ = 0;
  uint64_t accepted_ = 0;
  uint64_t told_ = 0;  // failures that any call has reported
};

TEST(SessionRandom, WhatIsPublishedIsWhatWasAccepted) {
  for_seeds(200, [](uint64_t seed) { SessionProgram(seed, false).run(); });
}

TEST(SessionRandom, WhatIsPublishedIsWhatWasAcceptedThoughItIsCompressed) {
  for_seeds(200, [](uint64_t seed) { SessionProgram(seed, true).run(); });
}

}  // namespace
}  // namespace tailrace::impl
