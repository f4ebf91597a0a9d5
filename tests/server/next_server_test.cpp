// The next server continues after one that dies between two lines of its ledger.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "channel/channel_ends.hpp"
#include "channel/channel_memory.hpp"
#include "engine/schedule/fifo.hpp"
#include "place/client_rings.hpp"
#include "server/served_clients.hpp"
#include "testing/blocks.hpp"
#include "testing/kept_log.hpp"
#include "testing/no_processes.hpp"
#include "testing/sim_clock.hpp"

namespace tailrace::impl {
namespace {

using Lines = std::vector<LedgerRecord>;

// The lines of a ledger until a server dies, right after its first line of one kind.
class KeptLines final : public LedgerStore {
 public:
  // `lines` is borrowed.
  KeptLines(Lines& lines, std::optional<LedgerRecord::Kind> last) : lines_(lines), last_(last) {}

  Result<Lines> read() override { return lines_; }
  Status append(const LedgerRecord& record) override {
    if (!dead_) lines_.push_back(record);
    dead_ = dead_ || record.kind == last_;
    return {};
  }
  Status replace(std::span<const LedgerRecord> records) override {
    if (!dead_) lines_.assign(records.begin(), records.end());
    return {};
  }
  void append_last(const LedgerRecord& record) override { (void)append(record); }
  void remove() override {
    if (!dead_) lines_.clear();
  }
  std::string name() const override { return "a test's"; }

 private:
  Lines& lines_;
  const std::optional<LedgerRecord::Kind> last_;
  bool dead_ = false;
};

// A client and its node's server on one thread, and then another server. A wait makes the server work.
class TwoServers final : public Place {
 public:
  TwoServers(const Config& config, LedgerRecord::Kind last)
      : config_(config),
        layout_(
            {.variables = static_cast<uint32_t>(config.variables.size()), .ring = 1024, .tickets = 64, .blocks = 64}),
        memory_(static_cast<std::byte*>(std::aligned_alloc(4096, config_.memory.budget + layout_.bytes())),
                std::free),
        storage_(doorbell_) {
    layout_.construct(parts());
    channel_.emplace(view());
    begin_server(last);
    client_.emplace(config_, *this, clock_, log_, trace_);
  }
  ~TwoServers() override { end_server(); }

  Client& client() { return *client_; }
  const Lines& ledger() const { return lines_; }
  // The server dies after its last line, and another replaces it.
  void change_servers() {
    end_server();
    ++losses_;
    begin_server(std::nullopt);
    (void)serve();
  }

  // Implements Place.
  Channel& channel() override { return *channel_; }
  void ring() override { (void)serve(); }
  bool reaches_client() const override { return false; }
  uint32_t losses() const override { return losses_; }
  void stop() override {}
  const std::string& description() const override { return description_; }
  Status wait(FunctionRef<bool()> ready, std::optional<Nanoseconds>) override {
    for (int round = 0; round < 100; ++round) {
      if (ready()) return {};
      (void)serve();
    }
    return Status(TAILRACE_TIMEOUT, "it waits for time to pass");
  }

  // Sends a verb that no client sends. The server does not look at it before serve().
  void send(Descriptor verb) {
    verb.sequence = server_->channel.ring.taken() + ++sent_by_hand_;
    ASSERT_TRUE(channel_->ring.push(verb));
  }
  // Serves until there is nothing to do. Returns why the client is not believed; ok if it is.
  Status serve() {
    Status distrusted;
    sent_by_hand_ = 0;
    for (int quiet = 0; quiet < 3;) {
      const ClientRings::Round round = server_->clients.rings().work();
      for (const auto& [client, why] : round.distrusted) distrusted = why;
      quiet = round.more ? 0 : quiet + 1;
    }
    return distrusted;
  }

 private:
  struct Life {
    Life(TwoServers& of, std::optional<LedgerRecord::Kind> last)
        : channel(of.view()),
          engine(of.storage_, fifo, of.clock_, {}),
          ledger(std::move(Ledger::open(std::make_unique<KeptLines>(of.lines_, last), of.log_)).value()),
          clients(ledger, of.log_, runs,
                  {engine, [&of](int client, const Config& config) { return of.make_format(client, config); }}) {}

    Channel channel;
    Fifo fifo;
    Engine engine;
    Ledger ledger;
    NoProcesses processes;
    RunWatch runs{processes};
    ServedClients clients;
  };

  std::unique_ptr<Format> make_format(int client, const Config& config) {
    const auto date = [] { return std::string("2026-01-02 03:04:05 +0000"); };
    return std::make_unique<Hdf5Format>(config, storage_.files(), Hdf5Format::Options{client, "machine", date});
  }
  std::byte* parts() const { return memory_.get() + config_.memory.budget; }
  Channel view() const { return layout_.view(parts(), {memory_.get(), config_.memory.budget}); }

  void begin_server(std::optional<LedgerRecord::Kind> last) {
    const bool first = losses_ == 0;
    server_ = std::make_unique<Life>(*this, last);
    ServedClients& clients = server_->clients;
    const ServedClients::Guest guest{server_->channel, ChannelMemory::control(parts()).server_asleep};
    clients.begin(0, config_, guest, /*adopted=*/!first);
    if (!first) clients.take_up_ledger();
  }
  // Nothing is under way: everything that it did, it did before it died.
  void end_server() {
    if (!server_->clients.members().is_gone(0)) server_->clients.rings().lose(0, true);
    (void)serve();
    server_.reset();
  }
  const Config config_;
  const std::string description_ = "a test's";
  SimClock clock_;
  KeptLog log_;
  TraceLog trace_{0};
  const ChannelMemory layout_;
  std::unique_ptr<std::byte, void (*)(void*)> memory_;  // the pool, followed by the channel's parts
  std::optional<Channel> channel_;
  Doorbell doorbell_;
  MemoryStorage storage_;
  Lines lines_;
  uint32_t losses_ = 0;
  uint32_t sent_by_hand_ = 0;  // since serve()
  std::unique_ptr<Life> server_;
  std::optional<Client> client_;
};

// Found by the simulator (core, seed 3182031213): the next server took up records of an iteration without a file, and
// reported that it could not continue them.
TEST(NextServer, WhatWentWithADroppedIterationIsNotToldAgain) {
  Config config = small_config(1);
  config.memory.when_full = WhenFull::drop;
  TwoServers node(config, LedgerRecord::Kind::unpublished);
  Client& client = node.client();
  ASSERT_TRUE(client.alloc("a", 1).ok()) << "all of the budget";
  ASSERT_OK(client.signal("refined", 0));
  EXPECT_EQ(client.write("b", 0, page(1).data()).code(), TAILRACE_DROPPED);
  ASSERT_OK(client.flush());
  ASSERT_FALSE(node.ledger().empty());
  ASSERT_EQ(node.ledger().back().kind, LedgerRecord::Kind::unpublished);
  node.change_servers();
  ASSERT_OK(client.flush());
  const std::optional<Status> told = client.earlier();
  EXPECT_FALSE(told) << said(*told);
}

// The ledger keeps 256 flushes and their like, and then strikes out those that have ended.
TEST(NextServer, OneFlushMoreThanTheLedgerKeepsStrikesOutTheOthers) {
  TwoServers node(small_config(8), LedgerRecord::Kind::unpublished);
  const auto flushes = [&node] {
    return std::count_if(node.ledger().begin(), node.ledger().end(), [](const LedgerRecord& of) {
      return of.kind == LedgerRecord::Kind::accepted && is_flush(of.descriptor.verb);
    });
  };
  for (int i = 0; i < 2000; ++i) {
    ASSERT_OK(node.client().flush());
    ASSERT_LE(flushes(), 2 * 1024 + 256) << "also those that are struck out and not yet removed";
  }
  node.change_servers();
  ASSERT_OK(node.client().flush());
  EXPECT_LE(flushes(), 256);
  ASSERT_OK(node.client().write("a", 3, page(1).data()));
  ASSERT_OK(node.client().end_iteration(3));
  ASSERT_OK(node.client().flush());
}

// Each unfinished iteration has a file open, so that such a client used up the descriptors of all.
TEST(ServedClients, AClientThatBeginsAndEndsMoreThanItMayIsNotBelieved) {
  for (const bool one_more : {false, true}) {
    TwoServers node(small_config(8), LedgerRecord::Kind::unpublished);
    ASSERT_OK(node.client().flush());
    const uint32_t most = node.channel().unfinished.limit();
    Descriptor verb;
    for (verb.iteration = 0; verb.iteration < most + (one_more ? 1 : 0); ++verb.iteration) {
      verb.verb = Verb::signal;
      verb.event[0] = 'x';
      node.send(verb);
      verb.verb = Verb::end_iteration;
      verb.event[0] = '\0';
      node.send(verb);
    }
    EXPECT_EQ(node.serve().code(), one_more ? TAILRACE_INVALID_ARGUMENT : TAILRACE_OK);
  }
}

// A dropped iteration has no file. It goes before the client has seen that there is room again.
TEST(ServedClients, AClientMayDropAsManyIterationsAsItLikes) {
  TwoServers node(small_config(8), LedgerRecord::Kind::unpublished);
  Descriptor verb;
  verb.verb = Verb::drop_iteration;
  for (verb.iteration = 0; verb.iteration < 1000; ++verb.iteration) node.send(verb);
  ASSERT_OK(node.serve());
}

}  // namespace
}  // namespace tailrace::impl
