// Slots with a client in front of them: what waits until the server's slot, and what must not wait though the clock
// stands still.
#include "engine/schedule/slots.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "blocks.hpp"
#include "place/channel_memory.hpp"
#include "place/node_rings.hpp"
#include "session/node_clients.hpp"
#include "testing/sim_clock.hpp"

namespace tailrace::impl {
namespace {

using std::chrono::milliseconds;

// A ledger that is forgotten.
class NoStore final : public LedgerStore {
 public:
  Result<std::vector<LedgerRecord>> read() override { return std::vector<LedgerRecord>(); }
  Status append(const LedgerRecord&) override { return {}; }
  Status replace(std::span<const LedgerRecord>) override { return {}; }
  void remove() override {}
  std::string name() const override { return "none"; }
};

// The second of two servers, with one client, on one thread and with a clock that only the test moves: whoever waits
// has the server work, and a wait that would last until the clock moves is an error.
class TurnTaker final : public Place, public NodeRings::Host {
 public:
  explicit TurnTaker(uint64_t pages)
      : config_(with_slots(small_config(pages))),
        layout_({.variables = 3, .ring = 64, .tickets = 64, .blocks = 256}),
        memory_(static_cast<std::byte*>(std::aligned_alloc(4096, config_.memory.budget + layout_.bytes())),
                std::free),
        storage_(doorbell_),
        slots_(fifo_, {1, 2}),
        engine_(storage_, slots_, clock_, {}),
        ledger_(std::move(Ledger::open(std::make_unique<NoStore>(), log_)).value()),
        clients_(engine_, ledger_, log_, make_format),
        rings_(*this) {
    std::byte* const parts = memory_.get() + config_.memory.budget;
    layout_.construct(parts);
    client_channel_.emplace(layout_.view(parts, {memory_.get(), config_.memory.budget}));
    server_channel_.emplace(layout_.view(parts, {memory_.get(), config_.memory.budget}));
    RequestSink& sink = clients_.begin(0, config_, *server_channel_);
    rings_.add(0, *server_channel_, ChannelMemory::control(parts).server_asleep, sink, 0);
    client_.emplace(config_, *this, clock_, log_, trace_);
  }
  ~TurnTaker() override {
    if (!gone_) lose();
  }

  Client& client() { return *client_; }
  void lose() {
    gone_ = true;
    rings_.lose(0, true);
    serve();
  }
  bool gone() const { return gone_ && dismissed_; }
  void pass(Nanoseconds time) {
    clock_.advance(time);
    serve();
  }
  uint64_t written() const { return server_channel_->counters.blocks_written.get(); }
  bool published(int64_t iteration) const {
    return storage_.contents(fmt::format("out/sim_c0_{:06}.h5", iteration)) != nullptr;
  }
  std::optional<Nanoseconds> next_in() const {
    const auto due = slots_.due();
    return due ? std::optional(*due - clock_.now()) : std::nullopt;
  }

  // Place
  Channel& channel() override { return *client_channel_; }
  void ring() override { serve(); }
  bool reaches_client() const override { return false; }
  uint32_t losses() const override { return 0; }
  void stop() override {}
  const std::string& description() const override { return description_; }
  Status wait(FunctionRef<bool()> ready, std::optional<Nanoseconds>) override {
    for (int round = 0; round < 100; ++round) {
      if (ready()) return {};
      serve();
    }
    return Status(TAILRACE_TIMEOUT, "it waits for time to pass");
  }

  // NodeRings::Host
  Status check(int client, const Descriptor& verb) override { return clients_.check(client, verb); }
  void accepted(int client, const Descriptor& verb) override { clients_.accepted(client, verb); }
  void lost(int client) override { clients_.lost(client); }
  bool settled(int client) override { return clients_.settled(client); }
  void leave(int client, bool died) override { clients_.leave(client, died); }
  bool released(int client) override { return clients_.released(client); }
  void dismiss(int client) override {
    clients_.dismiss(client);
    dismissed_ = true;
  }
  void progress() override {
    slots_.look(clock_.now());
    if (clients_.pressed()) slots_.open();
    clients_.progress();
  }
  bool ready() override { return clients_.ready(); }

 private:
  static Config with_slots(Config config) {
    config.storage.slots = true;
    return config;
  }
  static std::unique_ptr<Format> make_format(int client, const Config& config) {
    const auto date = [] { return std::string("2026-01-02 03:04:05 +0000"); };
    return std::make_unique<Hdf5Format>(config, Hdf5Format::Options{client, {}, "machine", date});
  }
  void serve() {
    for (int quiet = 0; quiet < 3;) quiet = rings_.work().more ? 0 : quiet + 1;
  }

  const Config config_;
  const std::string description_ = "a test's";
  SimClock clock_;
  KeptLog log_;
  TraceLog trace_{0};
  const ChannelMemory layout_;
  std::unique_ptr<std::byte, void (*)(void*)> memory_;  // the pool, and the channel's parts behind it
  std::optional<Channel> client_channel_;
  std::optional<Channel> server_channel_;
  Doorbell doorbell_;
  MemoryStorage storage_;
  Fifo fifo_;
  Slots slots_;
  Engine engine_;
  Ledger ledger_;
  NodeClients clients_;
  NodeRings rings_;
  std::optional<Client> client_;
  bool gone_ = false;
  bool dismissed_ = false;
};

// Writes iterations 0 and 1, 100 ms apart: from then on the server knows its slot, 50 ms after an iteration begins.
// Another 100 ms later a block of iteration 2 is handed over, and held.
class SlotsOfAServer : public testing::Test {
 protected:
  void begin(uint64_t pages = 16) {
    node_.emplace(pages);
    for (int64_t iteration = 0; iteration < 2; ++iteration) {
      ASSERT_OK(client().write("a", iteration, page(1).data()));
      ASSERT_OK(client().end_iteration(iteration));
      node_->pass(milliseconds(50));
      EXPECT_TRUE(node_->published(iteration));
      node_->pass(milliseconds(50));
    }
    ASSERT_OK(client().write("a", 2, page(7).data()));
    EXPECT_EQ(held(), 1u);
  }
  Client& client() { return node_->client(); }
  // Of the blocks that were handed over.
  uint64_t held() { return client().counters().blocks_accepted - node_->written(); }

  std::optional<TurnTaker> node_;
};

TEST_F(SlotsOfAServer, WritesWaitForIt) {
  begin();
  ASSERT_OK(client().write("b", 2, page(8).data()));
  ASSERT_OK(client().end_iteration(2));
  EXPECT_EQ(node_->next_in(), milliseconds(50)) << "the server knows when to wake";
  node_->pass(milliseconds(50) - Nanoseconds(1));
  EXPECT_EQ(held(), 2u);
  EXPECT_FALSE(node_->published(2));
  node_->pass(Nanoseconds(1));
  EXPECT_EQ(held(), 0u);
  EXPECT_TRUE(node_->published(2));
  EXPECT_EQ(node_->next_in(), std::nullopt);
}

TEST_F(SlotsOfAServer, AFlushDoesNotWait) {
  begin();
  ASSERT_OK(client().end_iteration(2));
  ASSERT_OK(client().flush());
  EXPECT_EQ(held(), 0u);
  EXPECT_TRUE(node_->published(2));
}

TEST_F(SlotsOfAServer, CloseDoesNotWait) {
  begin();
  client().finish();
  EXPECT_EQ(held(), 0u);
}

TEST_F(SlotsOfAServer, AReadDoesNotWait) {
  begin();
  std::vector<std::byte> data(4096);
  ASSERT_OK(client().read("a", 2, data.data()));
  EXPECT_EQ(data, page(7));
}

TEST_F(SlotsOfAServer, ABlockWithATicketDoesNotWait) {
  begin();
  const std::vector<std::byte> own = page(8);
  const Result<uint64_t> ticket = client().borrow("b", 2, own.data());
  ASSERT_OK(ticket.status());
  ASSERT_OK(client().wait(ticket.value(), std::nullopt));
  EXPECT_EQ(held(), 1u) << "the other one does";
}

TEST_F(SlotsOfAServer, HalfOfTheBudgetDoesNotWait) {
  begin(3);
  ASSERT_OK(client().write("b", 2, page(8).data()));
  EXPECT_EQ(held(), 0u);
}

TEST_F(SlotsOfAServer, AClientThatNeedsMemoryDoesNotWait) {
  begin(4);
  for (const auto& [variable, iteration] : {std::pair("b", 2), {"a", 3}, {"b", 3}}) {
    ASSERT_OK(client().alloc(variable, iteration).status());
  }
  EXPECT_EQ(held(), 1u);
  ASSERT_OK(client().write("a", 4, page(1).data())) << "the pool was full";
  EXPECT_EQ(held(), 1u);
}

TEST_F(SlotsOfAServer, AnIterationGoesWhenTheNextButOneBegins) {
  begin();
  ASSERT_OK(client().write("a", 3, page(1).data()));
  EXPECT_EQ(held(), 2u);
  ASSERT_OK(client().write("a", 4, page(1).data()));
  EXPECT_EQ(held(), 2u);
}

TEST_F(SlotsOfAServer, AClientThatIsGoneWaitsForNothing) {
  begin();
  ASSERT_OK(client().end_iteration(2));
  node_->lose();
  EXPECT_TRUE(node_->gone());
  EXPECT_TRUE(node_->published(2));
}

TEST_F(SlotsOfAServer, ReadsAndTicketsOfAnotherIterationDoNotMoveTheSlots) {
  begin();
  std::vector<std::byte> data(4096);
  ASSERT_OK(client().read("a", 0, data.data()));
  EXPECT_EQ(held(), 0u) << "who reads opens the slot";
  node_->pass(milliseconds(100));
  ASSERT_OK(client().write("a", 3, page(1).data()));
  EXPECT_EQ(held(), 1u) << "the next has its own";
  EXPECT_EQ(node_->next_in(), milliseconds(50));
}

}  // namespace
}  // namespace tailrace::impl
