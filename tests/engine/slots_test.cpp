// Slots: what is held and when it is released, against a plain model in simulated time; servers that take turns do
// not write at once.
#include "engine/schedule/slots.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "engine/engine.hpp"
#include "engine/schedule/fifo.hpp"
#include "storage/memory/memory_file_system.hpp"
#include "testing/sim_clock.hpp"

namespace tailrace::impl {
namespace {

using std::chrono::milliseconds;

// Requests with tokens 1, 2, 3, …, and what a scheduler hands out of them.
class Program {
 public:
  const Request* request(uint64_t phase) {
    requests_.emplace_back();
    requests_.back().phase = phase;
    requests_.back().token = requests_.size();
    return &requests_.back();
  }

  // Sets the time to `now`, and takes the requests that may go.
  void look(Scheduler& from, Nanoseconds now) {
    now_ = now;
    while (const Request* request = from.next(now)) taken_.push_back(request->token);
  }
  // Returns the requests that went since the last call, and those that go now.
  std::vector<uint64_t> take(Scheduler& from) {
    look(from, now_);
    return std::exchange(taken_, {});
  }

 private:
  std::deque<Request> requests_;
  Nanoseconds now_{0};
  std::vector<uint64_t> taken_;
};

using Tokens = std::vector<uint64_t>;

TEST(Slots, NothingIsHeldBeforeATimeIsKnown) {
  Fifo fifo;
  Slots slots(fifo, {1, 2});
  Program program;
  slots.push(program.request(1));
  program.look(slots, milliseconds(5));
  EXPECT_EQ(program.take(slots), Tokens{1});
  EXPECT_FALSE(slots.due());
  EXPECT_FALSE(slots.between());
}

TEST(Slots, AServerBeginsAtItsShareOfTheTimeBetweenPhases) {
  for (int server = 0; server < 4; ++server) {
    SCOPED_TRACE(server);
    Fifo fifo;
    Slots slots(fifo, {server, 4});
    Program program;
    slots.push(program.request(1));
    program.look(slots, milliseconds(0));
    EXPECT_EQ(program.take(slots), Tokens{1});
    slots.push(program.request(2));
    EXPECT_EQ(slots.due(), Nanoseconds::zero()) << "it must be looked at first";
    program.look(slots, milliseconds(100));
    EXPECT_EQ(slots.between(), milliseconds(100));
    if (server > 0) {
      EXPECT_EQ(slots.due(), milliseconds(100 + 25 * server));
      program.look(slots, milliseconds(100 + 25 * server) - Nanoseconds(1));
      EXPECT_EQ(program.take(slots), Tokens{});
      program.look(slots, milliseconds(100 + 25 * server));
    }
    EXPECT_EQ(program.take(slots), Tokens{2});
    EXPECT_FALSE(slots.due());
    slots.push(program.request(2));
    EXPECT_EQ(program.take(slots), Tokens{3}) << "the slot is there";
  }
}

TEST(Slots, WhatIsOfNoPhaseOrOfAnEarlierOneGoesAtOnce) {
  Fifo fifo;
  Slots slots(fifo, {1, 2});
  Program program;
  slots.push(program.request(10));
  program.look(slots, milliseconds(0));
  slots.push(program.request(20));
  program.look(slots, milliseconds(100));
  program.take(slots);
  slots.push(program.request(0));
  slots.push(program.request(10));
  slots.push(program.request(15));
  slots.push(program.request(20));
  EXPECT_EQ(program.take(slots), (Tokens{3, 4, 5}));
}

TEST(Slots, WhoeverWaitsOpensTheSlot) {
  Fifo fifo;
  Slots slots(fifo, {1, 2});
  Program program;
  slots.push(program.request(1));
  program.look(slots, milliseconds(0));
  slots.push(program.request(2));
  program.look(slots, milliseconds(100));
  program.take(slots);
  slots.hurry();
  EXPECT_EQ(program.take(slots), Tokens{2});
  slots.push(program.request(2));
  EXPECT_EQ(program.take(slots), Tokens{3}) << "the rest of the phase does not wait, either";
  slots.push(program.request(3));
  program.look(slots, milliseconds(200));
  EXPECT_EQ(program.take(slots), Tokens{}) << "the next phase has its slot again";
}

TEST(Slots, APhaseGoesWhenTheNextButOneBegins) {
  Fifo fifo;
  Slots slots(fifo, {9, 10});
  Program program;
  slots.push(program.request(1));
  program.look(slots, milliseconds(0));
  slots.push(program.request(2));
  program.look(slots, milliseconds(1000));
  slots.push(program.request(3));
  program.look(slots, milliseconds(1001));
  EXPECT_EQ(program.take(slots), Tokens{1});
  slots.push(program.request(4));
  program.look(slots, milliseconds(1002));
  EXPECT_EQ(program.take(slots), Tokens{2});
}

TEST(Slots, TheTimeBetweenPhasesIsSmoothed) {
  Fifo fifo;
  Slots slots(fifo, {1, 2});
  Program program;
  const auto begin = [&](uint64_t phase, int at) {
    slots.push(program.request(phase));
    program.look(slots, milliseconds(at));
    program.take(slots);
  };
  begin(1, 0);
  begin(2, 80);
  EXPECT_EQ(slots.between(), milliseconds(80));
  begin(3, 280);
  EXPECT_EQ(slots.between(), milliseconds(110));
  begin(4, 290);
  EXPECT_EQ(slots.between(), milliseconds(85));
}

// ---- any program, against a model ------------------------------------------------------------------------------

// Remembers everything, and computes what is held from the beginning each time.
class SlotsModel {
 public:
  SlotsModel(int server, int servers) : server_(server), servers_(servers) {}

  void push(uint64_t token, uint64_t phase) {
    const bool begins = phase > 0 && (phases_.empty() || phase > phases_.rbegin()->first);
    if (begins) phases_[phase];
    requests_.push_back({token, phases_.contains(phase) ? phase : 0, false});
  }

  void look(int64_t now) {
    for (auto& [number, phase] : phases_) {
      if (phase.begun < 0) phase.begun = now;
    }
    now_ = now;
    int64_t between = -1;
    int64_t before = -1;
    for (auto& [number, phase] : phases_) {
      if (before >= 0 && phase.begun > before) {
        const int64_t latest = phase.begun - before;
        between = between < 0 ? latest : between + (latest - between) / 4;
      }
      before = phase.begun;
      if (!phase.slot_known) phase.slot = phase.begun + (between < 0 ? 0 : between / servers_ * server_);
      phase.slot_known = true;
    }
    for (auto phase = phases_.begin(); phase != phases_.end(); ++phase) {
      if (phase->second.slot <= now_ || std::distance(phase, phases_.end()) > 2) phase->second.open = true;
    }
  }

  void open() {
    for (auto& [number, phase] : phases_) phase.open = true;
  }

  std::set<uint64_t> take() {
    std::set<uint64_t> taken;
    for (Sent& request : requests_) {
      const bool held = request.phase != 0 && phases_.contains(request.phase) && !phases_[request.phase].open;
      if (request.taken || held) continue;
      request.taken = true;
      taken.insert(request.token);
    }
    return taken;
  }

 private:
  struct Phase {
    int64_t begun = -1;
    int64_t slot = 0;
    bool slot_known = false;
    bool open = false;
  };
  struct Sent {
    uint64_t token;
    uint64_t phase;
    bool taken;
  };

  const int server_;
  const int servers_;
  int64_t now_ = 0;
  std::map<uint64_t, Phase> phases_;
  std::vector<Sent> requests_;
};

class SlotsProgram : public testing::TestWithParam<uint64_t> {};

TEST_P(SlotsProgram, HoldsWhatTheModelHolds) {
  std::mt19937_64 random(GetParam());
  const auto below = [&random](uint64_t limit) { return random() % limit; };
  const int servers = 1 + static_cast<int>(below(5));
  const int server = static_cast<int>(below(static_cast<uint64_t>(servers)));
  Fifo fifo;
  Slots slots(fifo, {server, servers});
  SlotsModel model(server, servers);
  Program program;
  uint64_t token = 0;
  uint64_t newest = 0;
  int64_t now = 0;
  for (int step = 0; step < 400; ++step) {
    const uint64_t kind = below(100);
    if (kind < 50) {
      uint64_t phase = below(newest + 1);
      if (below(3) == 0) phase = newest = newest + 1 + below(3);
      slots.push(program.request(phase));
      model.push(++token, phase);
      if (phase > newest) newest = phase;
    } else if (kind < 92) {
      now += static_cast<int64_t>(below(2) * below(1'000'000));
      program.look(slots, Nanoseconds(now));
      model.look(now);
      const auto due = slots.due();
      EXPECT_TRUE(!due || *due > Nanoseconds(now)) << "what is due has gone";
    } else if (kind < 95) {
      program.look(slots, Nanoseconds(now));
      model.look(now);
      slots.hurry();
      model.open();
    }
    const Tokens taken = program.take(slots);
    model.look(now);
    ASSERT_EQ(std::set<uint64_t>(taken.begin(), taken.end()), model.take())
        << "seed " << GetParam() << ", step " << step;
  }
  program.look(slots, Nanoseconds(now));
  slots.hurry();
  model.look(now);
  model.open();
  const Tokens taken = program.take(slots);
  EXPECT_EQ(std::set<uint64_t>(taken.begin(), taken.end()), model.take()) << "nothing is forgotten";
}

INSTANTIATE_TEST_SUITE_P(Seeds, SlotsProgram, testing::Range<uint64_t>(1, 201));

// ---- several servers on one storage -----------------------------------------------------------------------------

// A device on which a byte takes a microsecond. It records when each transfer was under way.
class TimedStorage final : public Storage {
 public:
  struct Span {
    Nanoseconds begin;
    Nanoseconds end;
  };

  explicit TimedStorage(const Clock& clock) : clock_(clock) {}

  const Capabilities& capabilities() const override { return capabilities_; }
  FileSystem& files() override { return files_; }
  void use_memory(std::span<std::byte>) override {}

  void submit(const Transfer& transfer) override {
    uint64_t bytes = 0;
    for (const iovec& segment : transfer.segments) bytes += segment.iov_len;
    const Nanoseconds end = clock_.now() + std::chrono::microseconds(bytes);
    under_way_.push_back({transfer.tag, bytes, end});
    spans_.push_back({clock_.now(), end});
  }
  size_t reap(std::span<Completion> done) override {
    size_t count = 0;
    while (count < done.size() && !under_way_.empty() && under_way_.front().end <= clock_.now()) {
      done[count++] = {under_way_.front().tag, static_cast<int64_t>(under_way_.front().bytes)};
      under_way_.pop_front();
    }
    return count;
  }

  const std::vector<Span>& spans() const { return spans_; }

 private:
  struct UnderWay {
    uint64_t tag;
    uint64_t bytes;
    Nanoseconds end;
  };

  const Clock& clock_;
  const Capabilities capabilities_{"timed", 1, 8, 0};
  MemoryFileSystem files_;
  std::deque<UnderWay> under_way_;
  std::vector<Span> spans_;
};

class CountedEnds final : public CompletionSink {
 public:
  void ended(const Request&, const Status& status) override {
    EXPECT_TRUE(status.ok());
    ++count;
  }
  int count = 0;
};

// A server with an engine of its own.
struct TimedServer {
  TimedServer(const Clock& clock, Slots::Turn turn, bool takes_turns)
      : storage(clock),
        slots(fifo, turn),
        engine(storage, takes_turns ? static_cast<Scheduler&>(slots) : fifo, clock, options()) {
    file = engine.open("file", OpenMode::create, 0, "");
  }

  static EngineOptions options() {
    EngineOptions options;
    options.max_pending = 64;
    return options;
  }

  // Submits an iteration with the given number and length of blocks, in microseconds.
  void bring(uint64_t iteration, int blocks, uint64_t bytes) {
    for (int block = 0; block < blocks; ++block) {
      Request request;
      request.operation = Operation::write;
      request.file = file;
      request.phase = iteration + 1;
      request.pieces = {{{offset, bytes}, memory.data()}};
      request.sink = &ends;
      offset += 2 * bytes;  // apart, so that none are joined
      engine.submit(std::move(request));
    }
  }
  void step() { engine.progress(); }

  TimedStorage storage;
  Fifo fifo;
  Slots slots;
  Engine engine;
  CountedEnds ends;
  FileId file = 0;
  uint64_t offset = 0;
  std::vector<std::byte> memory{1 << 20};
};

// How many pairs of transfers of different servers were under way at once, after the second iteration began.
int overlaps(int servers, bool takes_turns, uint64_t seed) {
  std::mt19937_64 random(seed);
  SimClock clock;
  std::vector<std::unique_ptr<TimedServer>> all;
  for (int server = 0; server < servers; ++server) {
    all.push_back(std::make_unique<TimedServer>(clock, Slots::Turn{server, servers}, takes_turns));
  }
  constexpr int kIterations = 12;
  constexpr int kBlocks = 5;
  Nanoseconds settled{0};
  for (uint64_t iteration = 0; iteration < kIterations; ++iteration) {
    if (iteration == 1) settled = clock.now();
    // Four fifths of each slot are needed; an iteration takes a few per cent more or less than the others.
    const uint64_t slot = 100'000 / static_cast<uint64_t>(servers);
    for (const auto& server : all) server->bring(iteration, kBlocks, slot * 4 / 5 / kBlocks);
    const uint64_t steps = 980 + random() % 40;
    for (uint64_t step = 0; step < steps; ++step) {
      for (const auto& server : all) server->step();
      clock.advance(std::chrono::microseconds(100));
    }
  }
  for (int step = 0; step < 2000; ++step) {
    for (const auto& server : all) server->step();
    clock.advance(std::chrono::microseconds(100));
  }
  int found = 0;
  for (size_t one = 0; one < all.size(); ++one) {
    EXPECT_EQ(all[one]->ends.count, kIterations * kBlocks);
    for (size_t other = one + 1; other < all.size(); ++other) {
      for (const auto& a : all[one]->storage.spans()) {
        for (const auto& b : all[other]->storage.spans()) {
          found += a.begin >= settled && b.begin >= settled && a.begin < b.end && b.begin < a.end ? 1 : 0;
        }
      }
    }
  }
  return found;
}

TEST(SlotsOfServers, DoNotOverlapWhereTheyFit) {
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    for (const int servers : {2, 3, 5}) {
      EXPECT_EQ(overlaps(servers, true, seed), 0) << servers << " servers, seed " << seed;
    }
  }
  EXPECT_GT(overlaps(2, false, 1), 0) << "without turns all write at once";
}

}  // namespace
}  // namespace tailrace::impl
