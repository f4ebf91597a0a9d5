// The trace of `measurements: {trace: true}`: it has an event for everything that happened, and keeps the rules of
// trace_file.hpp, however the run went.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <random>
#include <set>

#include "private_mount.hpp"
#include "run_rig.hpp"
#include "trace_file.hpp"

namespace {

using test::Config;
using test::Directory;
using test::OpenRun;
using test::TraceFile;

constexpr std::array kVariables = {"a", "b", "c", "d", "e", "f"};

Config traced(const std::string& when_full = "block", const std::string& more = "") {
  Config config;
  config.budget = "1 MiB";
  config.when_full = when_full;
  config.measurements = "{trace: true" + more + "}";
  return config;
}

void expect_rules(const TraceFile& trace) {
  trace.expect_calls_in_order();
  trace.expect_blocks_in_order();
}

class TraceEvents : public ::testing::Test {
 protected:
  TraceFile trace(int client = 0) const {
    return TraceFile(directory_.path() / ("run_c" + std::to_string(client) + ".trace.json"));
  }

  Directory directory_;
  const std::vector<double> values_ = test::block(0, 0);
};

TEST_F(TraceEvents, HasEveryCallAndEveryBlock) {
  OpenRun run(traced(), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  void* memory = nullptr;
  tailrace_ticket ticket;
  std::vector<double> found(8192);
  ASSERT_EQ(tailrace_write(run, "a", 3, values_.data()), TAILRACE_OK);
  ASSERT_EQ(tailrace_alloc(run, "b", 3, &memory), TAILRACE_OK);
  std::memset(memory, 0, 65536);
  ASSERT_EQ(tailrace_commit(run, "b", 3), TAILRACE_OK);
  ASSERT_EQ(tailrace_borrow(run, "c", 3, values_.data(), &ticket), TAILRACE_OK);
  ASSERT_EQ(tailrace_read(run, "a", 3, found.data()), TAILRACE_OK);
  ASSERT_EQ(tailrace_end_iteration(run, 3), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);

  const TraceFile trace = this->trace();
  expect_rules(trace);
  const auto expect_call = [&](const std::string& category, const std::string& name, const std::string& variable) {
    const auto calls = trace.calls(category, name);
    ASSERT_EQ(calls.size(), 1U) << name;
    EXPECT_EQ(calls[0].arguments.value("variable", ""), variable) << name;
    if (!variable.empty()) {
      EXPECT_EQ(calls[0].arguments.at("bytes"), 65536U) << name;
    }
    if (category == "handover" || !variable.empty()) {
      EXPECT_EQ(calls[0].arguments.at("iteration"), 3) << name;
    }
  };
  expect_call("handover", "write a", "a");
  expect_call("handover", "alloc b", "b");
  expect_call("handover", "commit b", "b");
  expect_call("handover", "borrow c", "c");
  expect_call("handover", "end_iteration", "");
  expect_call("wait", "read a", "a");
  expect_call("wait", "flush", "");
  expect_call("wait", "close", "");
  EXPECT_EQ(trace.calls().size(), 8U);
  ASSERT_EQ(trace.blocks().size(), 3U);
  std::set<std::string> variables;
  for (const TraceFile::Block& block : trace.blocks()) {
    variables.insert(block.variable);
    EXPECT_EQ(block.iteration, 3);
    EXPECT_EQ(block.bytes, 65536U);
    EXPECT_FALSE(block.failed);
    // It was handed over within its call.
    const char* const verb = block.variable == "a" ? "write " : block.variable == "b" ? "commit " : "borrow ";
    const TraceFile::Event call = trace.calls("handover", verb + block.variable).at(0);
    EXPECT_GE(block.queued, call.begin);
    EXPECT_LE(block.queued, call.end);
  }
  EXPECT_EQ(variables, (std::set<std::string>{"a", "b", "c"}));
  ASSERT_EQ(trace.publications().size(), 1U);
  EXPECT_EQ(trace.publications()[0].arguments.at("iteration"), 3);
  EXPECT_FALSE(trace.publications()[0].arguments.contains("failed"));
  EXPECT_LE(trace.publications()[0].end, trace.calls("wait", "flush")[0].end);
  EXPECT_GE(trace.peak("blocks under way"), 1);
  EXPECT_LE(trace.peak("blocks under way"), 3);
  EXPECT_LE(trace.peak("memory held"), 2 * 65536);  // borrowed memory is not tailrace's
}

TEST_F(TraceEvents, SayWhatTheyAreOf) {
  OpenRun run(traced(), directory_, 7);
  ASSERT_TRUE(run.opened()) << run.error().message;
  const char* text = nullptr;
  ASSERT_EQ(tailrace_describe(run, &text), TAILRACE_OK);
  const std::string description = text;
  EXPECT_EQ(run.close(), TAILRACE_OK);
  const TraceFile trace = this->trace(7);
  const test::Json& other = trace.json()["otherData"];
  EXPECT_EQ(other["program"], "run");
  EXPECT_EQ(other["client"], 7);
  EXPECT_EQ(other["tailrace"], TAILRACE_VERSION_STRING);
  EXPECT_EQ(other["description"], description);
  EXPECT_EQ(trace.dropped(), 0U);
}

TEST_F(TraceEvents, HasTheWaitingForMemory) {
  OpenRun run(traced("block"), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  // More than ever fits: some of the calls must wait.
  for (int64_t iteration = 0; iteration < 40; ++iteration) {
    for (const char* variable : kVariables) {
      ASSERT_EQ(tailrace_write(run, variable, iteration, values_.data()), TAILRACE_OK);
    }
    ASSERT_EQ(tailrace_end_iteration(run, iteration), TAILRACE_OK);
  }
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  const tailrace_stats stats = run.stats();
  EXPECT_EQ(run.close(), TAILRACE_OK);
  const TraceFile trace = this->trace();
  expect_rules(trace);
  EXPECT_EQ(trace.blocks().size(), test::of_writer(240));
  EXPECT_EQ(trace.publications().size(), test::of_writer(40));
  EXPECT_LE(trace.peak("memory held"), 1 << 20);
  int64_t waited = 0;
  for (const TraceFile::Event& wait : trace.calls("wait", "memory")) waited += wait.end - wait.begin;
  EXPECT_NEAR(static_cast<double>(waited) * 1e-9, stats.seconds_waiting_memory, 1e-6);
}

TEST_F(TraceEvents, KeepsItsRulesWhenWritingThrough) {
  OpenRun run(traced("sync"), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  void* memory = nullptr;
  for (int i = 0; i < 16; ++i) ASSERT_EQ(tailrace_alloc(run, kVariables[i % 2], i / 2, &memory), TAILRACE_OK);
  for (int64_t i = 0; i < 8; ++i) ASSERT_EQ(tailrace_write(run, "c", i, values_.data()), TAILRACE_OK);
  for (int i = 0; i < 16; ++i) ASSERT_EQ(tailrace_commit(run, kVariables[i % 2], i / 2), TAILRACE_OK);
  for (int64_t i = 0; i < 8; ++i) ASSERT_EQ(tailrace_end_iteration(run, i), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);
  const TraceFile trace = this->trace();
  expect_rules(trace);
  EXPECT_EQ(trace.blocks().size(), 24U);
  EXPECT_EQ(trace.calls("handover", "write c").size(), 8U);
  // The write waits until the block is written, and its event says so.
  for (const TraceFile::Event& wait : trace.calls("wait", "wait c")) EXPECT_EQ(wait.arguments["variable"], "c");
}

TEST_F(TraceEvents, KeepsItsRulesWhenDropping) {
  OpenRun run(traced("drop"), directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  ASSERT_EQ(tailrace_write(run, "a", 99, values_.data()), TAILRACE_OK);
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  void* memory = nullptr;
  for (int i = 0; i < 16; ++i) ASSERT_EQ(tailrace_alloc(run, kVariables[i % 2], i / 2, &memory), TAILRACE_OK);
  EXPECT_EQ(tailrace_write(run, "c", 99, values_.data()), TAILRACE_DROPPED);
  EXPECT_EQ(tailrace_end_iteration(run, 99), TAILRACE_DROPPED);
  for (int i = 0; i < 16; ++i) ASSERT_EQ(tailrace_commit(run, kVariables[i % 2], i / 2), TAILRACE_OK);
  for (int64_t i = 0; i < 8; ++i) ASSERT_EQ(tailrace_end_iteration(run, i), TAILRACE_OK);
  EXPECT_EQ(run.close(), TAILRACE_OK);
  const TraceFile trace = this->trace();
  expect_rules(trace);
  EXPECT_EQ(trace.blocks().size(), test::of_writer(17));
  EXPECT_EQ(trace.publications().size(), test::of_writer(8));
  EXPECT_TRUE(trace.calls("handover", "write c").empty());  // nothing was handed over
}

TEST_F(TraceEvents, SaysWhichBlocksFailed) {
  const auto disk = test::PrivateMount::small_disk(directory_.path(), "1m");
  if (!disk.ok()) GTEST_SKIP() << "mounting a small tmpfs: " << std::strerror(errno);
  Config config = traced();
  config.shape = "[4096]";  // 32 KiB: not reserved before they are written, so they fail in the writer
  OpenRun run(config, directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  for (int64_t iteration = 0; iteration < 10; ++iteration) {
    for (const char* variable : kVariables) tailrace_write(run, variable, iteration, values_.data());
    tailrace_end_iteration(run, iteration);
    while (tailrace_flush(run) == TAILRACE_EARLIER_FAILURE) {
    }
  }
  const tailrace_stats stats = run.stats();
  ASSERT_GT(stats.blocks_failed, 0U);
  // Room for the trace.
  for (int64_t i = 0; i < 4; ++i) {
    test::fs::remove(directory_.path() / ("run_c0_00000" + std::to_string(i) + ".h5"));
  }
  EXPECT_EQ(run.close(), TAILRACE_OK);
  const TraceFile trace = this->trace();
  expect_rules(trace);
  const auto failed = [](const TraceFile::Block& block) { return block.failed; };
  const auto blocks_failed = std::count_if(trace.blocks().begin(), trace.blocks().end(), failed);
  EXPECT_GT(blocks_failed, 0);
  EXPECT_LE(static_cast<uint64_t>(blocks_failed), stats.blocks_failed);
  EXPECT_EQ(trace.blocks().size() - static_cast<size_t>(blocks_failed), stats.blocks_written);
}

TEST_F(TraceEvents, PastItsLimitTheyAreCounted) {
  const auto run_with = [this](int client, const std::string& more) {
    OpenRun run(traced("block", more), directory_, client);
    ASSERT_TRUE(run.opened()) << run.error().message;
    for (int64_t iteration = 0; iteration < 10; ++iteration) {
      ASSERT_EQ(tailrace_write(run, "a", iteration, values_.data()), TAILRACE_OK);
      ASSERT_EQ(tailrace_end_iteration(run, iteration), TAILRACE_OK);
      ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
    }
    EXPECT_EQ(run.close(), TAILRACE_OK);
  };
  run_with(0, "");
  run_with(1, ", trace_events: 5");
  const TraceFile whole = trace(0);
  const TraceFile part = trace(1);
  expect_rules(whole);
  expect_rules(part);
  EXPECT_EQ(whole.dropped(), 0U);
  EXPECT_EQ(whole.calls().size(), 31U);  // and whole.blocks() and publications: 20
  EXPECT_EQ(part.calls().size(), 5U);
  EXPECT_EQ(part.blocks().size() + part.publications().size(), 5U);
  EXPECT_EQ(part.dropped(), 31U - 5U + 20U - 5U);
}

// A trace may have many events, and the program little memory left when it closes.
TEST_F(TraceEvents, AreWrittenWithLittleMemory) {
  if (test::kSanitized) GTEST_SKIP() << "a sanitizer's memory is not ours";
  const auto peak_kib = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  Config config = traced();
  config.backend = "memory";
  config.shape = "[8]";
  OpenRun run(config, directory_);
  ASSERT_TRUE(run.opened()) << run.error().message;
  for (int64_t iteration = 0; iteration < 100; ++iteration) {
    for (int i = 0; i < 300; ++i) ASSERT_EQ(tailrace_write(run, "a", iteration, values_.data()), TAILRACE_OK);
    ASSERT_EQ(tailrace_end_iteration(run, iteration), TAILRACE_OK);
  }
  ASSERT_EQ(tailrace_flush(run), TAILRACE_OK);
  const long before = peak_kib();
  EXPECT_EQ(run.close(), TAILRACE_OK);
  EXPECT_LT(peak_kib() - before, 32 * 1024) << "KiB more than before";
  EXPECT_EQ(trace().blocks().size(), 30'000U);
}

// Makes one call of a random kind. Borrowed arrays stay lent, and unchanged, to the end.
void do_something(std::mt19937_64& random, tailrace_client* client, const std::vector<double>& values,
                  std::vector<tailrace_ticket>& tickets) {
  const auto below = [&random](uint64_t end) { return static_cast<int64_t>(random() % end); };
  const char* const variable = kVariables[random() % kVariables.size()];
  const int64_t iteration = below(30);
  void* memory = nullptr;
  tailrace_ticket ticket{};
  std::vector<double> found(values.size());
  switch (below(10)) {
    case 0: tailrace_borrow(client, variable, iteration, values.data(), &ticket); break;
    case 1: tailrace_alloc(client, variable, iteration, &memory); break;
    case 2: tailrace_commit(client, variable, iteration); break;
    case 3: tailrace_end_iteration(client, iteration); break;
    case 4: tailrace_read(client, variable, iteration, found.data()); break;
    case 5: tailrace_signal(client, "event", iteration); break;
    case 6: tailrace_flush(client); break;
    case 7:
      if (!tickets.empty()) tailrace_wait(tickets[random() % tickets.size()], below(2));
      break;
    default: tailrace_write(client, variable, iteration, values.data());
  }
  if (ticket.client != nullptr) tickets.push_back(ticket);
}

TEST_F(TraceEvents, KeepsItsRulesInRandomRuns) {
  int client = 0;
  for (const char* when_full : {"block", "sync", "drop"}) {
    for (uint64_t seed = 1; seed <= 4; ++seed, ++client) {
      SCOPED_TRACE(std::string(when_full) + ", seed " + std::to_string(seed));
      std::mt19937_64 random(seed);
      std::vector<tailrace_ticket> tickets;
      {
        OpenRun run(traced(when_full), directory_, client);
        ASSERT_TRUE(run.opened()) << run.error().message;
        for (int i = 0; i < 300; ++i) do_something(random, run, values_, tickets);
        run.close();
      }
      expect_rules(trace(client));
      if (HasFailure()) return;
    }
  }
}

}  // namespace
