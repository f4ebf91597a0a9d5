// The server reaches its client by the port ClientEnds alone: here it serves one without a channel.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "server/server.hpp"
#include "testing/blocks.hpp"
#include "testing/files_rig.hpp"
#include "testing/noted_ends.hpp"

namespace tailrace::impl {
namespace {

class ServerAndEnds : public testing::Test, protected FilesRig {
 protected:
  explicit ServerAndEnds(FaultPlan plan = {}, const EngineOptions& options = {})
      : FilesRig(in_memory(), std::move(plan), options) {}

  void send(Verb verb, int64_t iteration, uint64_t ticket, uint32_t block = 0) {
    Descriptor descriptor;
    descriptor.verb = verb;
    descriptor.iteration = iteration;
    descriptor.sequence = ++sequence_;
    descriptor.ticket = ticket;
    if (verb == Verb::write) descriptor.bytes = {uint64_t{block} * bytes(), bytes(), block, 0, 0};
    server_.accept(descriptor);
  }
  // Does for this server what ServedClients does for all.
  void progress() {
    do {
      engine.progress(server_.urgency());
    } while (server_.begin_more());
    server_.report(engine.counts());
  }
  bool is_idle() const { return server_.settled() && idle(); }
  void serve() {
    while (!is_idle()) {
      doorbell.prepare();
      progress();
      is_idle() ? doorbell.cancel() : doorbell.sleep();
    }
  }
  uint64_t bytes() const { return config.layout_of(config.variables[0]).bytes(); }

  static Config in_memory() {
    Config config = small_config(16);
    config.storage.backend = Backend::memory;
    return config;
  }

  TraceLog trace_{0};
  NotedEnds ends_{config.memory.budget, config.variables.size()};
  Server server_{config, 0, ends_, engine, files, trace_};
  uint64_t sequence_ = 0;
};

TEST_F(ServerAndEnds, ATicketEndsMemoryComesBackAndTheIterationLeaves) {
  send(Verb::write, 0, 1, 3);
  send(Verb::end_iteration, 0, 2);
  send(Verb::flush, -1, 3);
  serve();
  EXPECT_EQ(ends_.tickets, (std::map<uint64_t, bool>{{1, true}, {2, true}, {3, true}}));
  EXPECT_EQ(ends_.given_back, std::vector<uint32_t>{3});
  EXPECT_EQ(ends_.end_of(3).sequence, 1u);
  EXPECT_EQ(ends_.left, std::vector<int64_t>{0});
  EXPECT_TRUE(ends_.failures.empty());
  EXPECT_EQ(ends_.counters().bytes_written.get(), bytes());
  EXPECT_EQ(ends_.counters().iterations_published.get(), 1u);
  EXPECT_EQ(ends_.variables()[0].blocks_written.get(), 1u);
}

// An earlier server has forgotten the verbs of an iteration that another client dropped, among them the first part.
TEST_F(ServerAndEnds, TheRestOfAnAttributeOfADroppedIterationComesToTheNextServer) {
  files.iterations().add_unpublished(0, Status(TAILRACE_DROPPED, "another client had no room"));
  const std::vector<std::byte> bytes = to_bytes("note", AttributeValue(std::string(50, 'x')));
  ASSERT_EQ(attribute_parts(bytes.size()), 3u);
  const auto part = [&](uint32_t index) {
    Descriptor descriptor;
    descriptor.verb = Verb::attribute;
    descriptor.iteration = 0;
    descriptor.variable = kNoVariable;
    descriptor.sequence = ++sequence_;
    descriptor.ticket = index == 2 ? 1 : kNoTicket;
    descriptor.part = attribute_part(bytes, index);
    return descriptor;
  };
  server_.accept_again(part(1));
  const Descriptor last = part(2);
  EXPECT_OK(server_.check(last));
  server_.accept(last);
  EXPECT_EQ(ends_.tickets, (std::map<uint64_t, bool>{{1, false}}));
  ASSERT_EQ(ends_.failures.size(), 1u);
  EXPECT_EQ(ends_.failures[0].second.code, TAILRACE_DROPPED);
  Descriptor impossible = part(2);
  impossible.part.index = 3;
  EXPECT_FALSE(server_.check(impossible).ok());
}

// Actions that keep every block, and note what the server reports.
class NotedActions final : public ActionPort {
 public:
  void came(const Block& block, const Descriptor&, bool) override { note("block of", block.iteration); }
  bool keeps(int, const Descriptor& block) override { return kept.insert(block.sequence).second; }
  bool holds(int, uint64_t sequence) const override { return kept.contains(sequence); }
  void raised(int, const std::string& event, int64_t iteration) override { note(event + " in", iteration); }
  bool ending(int, int64_t iteration) override {
    note("end of", iteration);
    return false;
  }
  void dropping(int, int64_t iteration) override { note("drop of", iteration); }
  void left(int, int64_t iteration) override { note("left:", iteration); }

  std::set<uint64_t> kept;  // sequences
  std::vector<std::string> notes;

 private:
  void note(const std::string& what, int64_t iteration) { notes.push_back(what + " " + std::to_string(iteration)); }
};

TEST_F(ServerAndEnds, ABlockThatActionsKeepComesBackWhenTheyLetItGo) {
  NotedActions actions;
  server_.serve_actions(actions);
  send(Verb::write, 0, 1, 3);
  send(Verb::end_iteration, 0, 2);
  send(Verb::write, 1, 3, 4);
  send(Verb::drop_iteration, 1, 4);
  serve();
  EXPECT_EQ(ends_.tickets, (std::map<uint64_t, bool>{{1, true}, {2, true}, {3, true}, {4, false}}));
  EXPECT_EQ(actions.notes.front(), "block of 0");
  EXPECT_EQ(std::set<std::string>(actions.notes.begin(), actions.notes.end()),
            (std::set<std::string>{"block of 0", "end of 0", "left: 0", "block of 1", "drop of 1", "left: 1"}));
  EXPECT_TRUE(ends_.given_back.empty());
  EXPECT_TRUE(ends_.end_of(3).kept) << "a later server must know";
  server_.give_back(3, 1);
  EXPECT_EQ(ends_.given_back, std::vector<uint32_t>{3});
  EXPECT_FALSE(ends_.end_of(3).kept);
}

class SlowServerAndEnds : public ServerAndEnds {
 protected:
  SlowServerAndEnds() : ServerAndEnds({}, slow()) {}
  static EngineOptions slow() {
    EngineOptions options;
    options.execute.rate = 1000;
    return options;
  }
};

TEST_F(SlowServerAndEnds, WritesAreHeldWhileTheClientComputesAndNotWhileItSleeps) {
  send(Verb::write, 0, 1, 3);
  send(Verb::write, 1, 2, 4);
  progress();
  progress();
  EXPECT_TRUE(ends_.tickets.contains(1));
  EXPECT_FALSE(ends_.tickets.contains(2));
  ASSERT_TRUE(engine.due().has_value());
  EXPECT_EQ(*engine.due() - clock.now(), std::chrono::milliseconds(bytes()));
  ends_.asleep = true;
  progress();
  progress();
  EXPECT_TRUE(ends_.tickets.contains(2));
  ends_.asleep = false;
  send(Verb::end_iteration, 0, 3);
  send(Verb::end_iteration, 1, 4);
  progress();
  EXPECT_FALSE(is_idle());
  send(Verb::flush, -1, 5);
  serve();
}

class FailingServerAndEnds : public ServerAndEnds {
 protected:
  FailingServerAndEnds() : ServerAndEnds({.rules = {{.on = FaultOn::write, .times = FaultRule::kForever}}}) {}
};

TEST_F(FailingServerAndEnds, AFailureIsReportedWithItsTicket) {
  send(Verb::write, 4, 7, 1);
  send(Verb::end_iteration, 4, kNoTicket);
  serve();
  EXPECT_EQ(ends_.tickets, (std::map<uint64_t, bool>{{7, false}}));
  ASSERT_FALSE(ends_.failures.empty());
  EXPECT_EQ(ends_.failures[0].first, 7u);
  EXPECT_EQ(ends_.failures[0].second.code, TAILRACE_IO_ERROR);
  EXPECT_EQ(ends_.failures[0].second.iteration, 4);
  EXPECT_EQ(ends_.given_back, std::vector<uint32_t>{1}) << "memory of failed writes comes back";
  EXPECT_EQ(ends_.counters().blocks_failed.get(), 1u);
  EXPECT_EQ(ends_.left, std::vector<int64_t>{4});
}

}  // namespace
}  // namespace tailrace::impl
