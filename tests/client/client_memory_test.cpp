// ClientMemory and ServerLink without a server: the test plays the server, at the channel's other ends.
#include "client/client_memory.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "channel/channel_ends.hpp"
#include "channel/channel_memory.hpp"
#include "testing/blocks.hpp"
#include "testing/kept_log.hpp"
#include "testing/sim_clock.hpp"

namespace tailrace::impl {
namespace {

constexpr uint64_t kPage = 4096;

// A channel in private memory. A client that waits makes the server do something, once.
class PlayedPlace final : public Place {
 public:
  explicit PlayedPlace(uint64_t pages)
      : layout_({.variables = 3, .ring = 2, .tickets = 2, .blocks = 16}),
        parts_(layout_.bytes() / sizeof(Line)),
        pool_(pages * kPage),
        channel_(made()) {}

  Channel& channel() override { return channel_; }
  void ring() override { ++rings; }
  bool reaches_client() const override { return false; }
  Status wait(FunctionRef<bool()> ready, std::optional<Nanoseconds>) override {
    if (ready()) return {};
    if (on_wait) on_wait();
    return ready() ? Status() : Status(TAILRACE_TIMEOUT, "nothing came");
  }
  uint32_t losses() const override { return lost_servers; }
  void stop() override {}
  const std::string& description() const override { return description_; }

  int rings = 0;
  uint32_t lost_servers = 0;
  std::function<void()> on_wait;

 private:
  struct alignas(kPage) Line {
    std::byte bytes[kPage];
  };
  Channel made() {
    auto* const memory = parts_[0].bytes;
    layout_.construct(memory);
    return layout_.view(memory, pool_);
  }

  const ChannelMemory layout_;
  std::vector<Line> parts_;
  std::vector<std::byte> pool_;
  Channel channel_;
  std::string description_ = "played";
};

class ClientMemoryTest : public ::testing::Test {
 protected:
  // Takes a block and sends it away; returns the verb's sequence.
  uint64_t send_away(PoolBlock block) {
    Descriptor descriptor;
    descriptor.verb = Verb::write;
    descriptor.bytes.block = block.index;
    const Result<uint64_t> sent = link_.send_with_block(descriptor);
    EXPECT_OK(sent.status());
    return sent.value();
  }
  // Returns the bytes that are not free, as the client knows after a look.
  uint64_t held() {
    memory_.pool().collect();
    return memory_.pool().held();
  }

  const Config config_ = small_config(4);
  PlayedPlace place_{4};
  ChannelEnds server_{place_.channel()};
  SimClock clock_;
  KeptLog log_;
  TraceLog trace_{0};
  Shapes shapes_{config_, config_.memory.budget};
  ClientMeter meter_{clock_, trace_, shapes_, 3};
  ServerLink link_{place_, meter_, false};
  ClientMemory memory_{place_, link_, log_};
};

TEST_F(ClientMemoryTest, ABlockComesBackWhenItsVerbHasEnded) {
  const PoolBlock block = memory_.take(kPage).value();
  const uint64_t sequence = send_away(block);
  EXPECT_TRUE(link_.is_pending(block.index, sequence));
  EXPECT_EQ(held(), kPage);
  server_.give_back(block.index, sequence);
  EXPECT_FALSE(link_.is_pending(block.index, sequence));
  EXPECT_EQ(held(), 0u);
}

TEST_F(ClientMemoryTest, AWaitTellsHungerUntilABlockComes) {
  const PoolBlock block = memory_.take(4 * kPage).value();
  const uint64_t sequence = send_away(block);
  uint64_t told = 0;
  place_.on_wait = [&] {
    told = place_.channel().hungry.load();
    clock_.advance(Nanoseconds(5));
    server_.give_back(block.index, sequence);
  };
  EXPECT_OK(memory_.take(kPage).status());
  EXPECT_EQ(told, 1u);
  EXPECT_EQ(place_.channel().hungry.load(), 0u);
  EXPECT_EQ(meter_.counters().waiting_memory, Nanoseconds(5));
  EXPECT_EQ(log_.lines().size(), 1u);
}

TEST_F(ClientMemoryTest, NobodyWaitsForWhatTheApplicationHolds) {
  const PoolBlock block = memory_.take(4 * kPage).value();
  memory_.withhold(4 * kPage);
  EXPECT_EQ(memory_.take(kPage).status().code(), TAILRACE_BUDGET_HELD);
  EXPECT_EQ(memory_.take(5 * kPage).status().code(), TAILRACE_TOO_LARGE);
  memory_.release(4 * kPage);
  memory_.free(block);
  EXPECT_OK(memory_.take(4 * kPage).status());
}

TEST_F(ClientMemoryTest, ACallThatFailsLeavesNothingBehind) {
  place_.on_wait = [] {};  // the server is alive, and does nothing
  Descriptor verb;
  while (link_.send(verb).ok()) continue;
  const uint64_t last = verb.sequence - 1;
  const PoolBlock block = memory_.take(4 * kPage).value();
  for (int call = 0; call < 10; ++call) {
    bool in_use = false;
    EXPECT_EQ(link_.send_with_ticket(verb, TraceEvent::kNone).status().code(), TAILRACE_TIMEOUT);
    EXPECT_EQ(link_.send_flush(Verb::flush).status().code(), TAILRACE_TIMEOUT);
    EXPECT_EQ(link_.ask(verb, in_use).code(), TAILRACE_TIMEOUT);
    EXPECT_FALSE(in_use);
    verb.bytes.block = block.index;
    EXPECT_EQ(link_.send_with_block(verb).status().code(), TAILRACE_TIMEOUT);
    verb.bytes.block = kNoBlock;
  }
  bool broken = false;
  while (place_.channel().ring.front(verb, broken)) place_.channel().ring.drop();
  for (uint64_t call = 1; call <= 2; ++call) {
    const Result<uint64_t> ticket = link_.send_with_ticket(verb, TraceEvent::kNone);
    ASSERT_OK(ticket.status());
    EXPECT_TRUE(link_.is_pending(ticket.value()));
    EXPECT_EQ(verb.sequence, last + call) << "no number is left out";
  }
  memory_.free(block);
  EXPECT_EQ(held(), 0u);
}

TEST_F(ClientMemoryTest, WhatADeadServerHadDoneWithComesBackWithTheNext) {
  const PoolBlock done = memory_.take(kPage).value();
  const PoolBlock kept = memory_.take(kPage).value();
  const PoolBlock under_way = memory_.take(kPage).value();
  const uint64_t sequence = send_away(done);
  server_.note_end(done.index, sequence);  // and dies before it gives the block back
  server_.keep(kept.index, send_away(kept));
  EXPECT_EQ(held(), 3 * kPage);
  memory_.reclaim();
  EXPECT_EQ(held(), 3 * kPage);  // nothing is known of a death yet

  ++place_.lost_servers;
  ChannelEnds next(place_.channel());
  next.take_over();
  memory_.reclaim();
  EXPECT_EQ(held(), 2 * kPage);
  EXPECT_FALSE(memory_.pool().holds(done.index));
  EXPECT_TRUE(memory_.pool().holds(under_way.index));
  memory_.reclaim();
  EXPECT_EQ(held(), 2 * kPage);
}

TEST_F(ClientMemoryTest, WhatDoesNotFitIntoTheRingWaitsAndKeepsItsPlace) {
  Descriptor descriptor;
  descriptor.verb = Verb::end_iteration;
  std::vector<uint64_t> taken;
  const auto take_one = [&] {
    Descriptor one;
    if (!place_.channel().ring.pop(one)) return false;
    taken.push_back(one.sequence);
    return true;
  };
  EXPECT_OK(link_.send(descriptor));
  EXPECT_OK(link_.send(descriptor));
  EXPECT_EQ(link_.send(descriptor).code(), TAILRACE_TIMEOUT);
  place_.on_wait = [&] { EXPECT_TRUE(take_one()); };
  EXPECT_OK(link_.send(descriptor));
  while (take_one()) {
  }
  EXPECT_EQ(taken, (std::vector<uint64_t>{1, 2, 3})) << "no number is left out";
}

TEST_F(ClientMemoryTest, ATicketThatFailedSaysWhyOnce) {
  const uint64_t ticket = link_.send_flush(Verb::flush).value();
  EXPECT_TRUE(link_.is_pending(ticket));
  EXPECT_EQ(link_.wait_for(ticket, std::nullopt).code(), TAILRACE_TIMEOUT);
  place_.on_wait = [&] {
    server_.report(ticket, Status(TAILRACE_IO_ERROR, "no space"));
    server_.end_ticket(ticket, false);
  };
  EXPECT_EQ(link_.await(ticket).fault().message, "no space");
  EXPECT_EQ(link_.await(ticket).fault().message, "wait: this request failed, and its failure was already reported");
}

}  // namespace
}  // namespace tailrace::impl
