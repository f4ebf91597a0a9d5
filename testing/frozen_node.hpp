// FrozenNode: a client and the server of its node on one thread, with a clock that only the test advances.
//
// A wait makes the server work; a wait that would last until the clock advances is an error. The server is the second
// of two that take turns (engine/schedule/slots.hpp).
#pragma once

#include <fmt/format.h>

#include <cstdlib>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "channel/channel_memory.hpp"
#include "engine/schedule/slots.hpp"
#include "server/served_clients.hpp"
#include "testing/blocks.hpp"
#include "testing/kept_log.hpp"
#include "testing/no_processes.hpp"
#include "testing/sim_clock.hpp"

namespace tailrace::impl {

class FrozenNode final : public Place {
 public:
  explicit FrozenNode(uint64_t pages, EngineOptions engine = {})
      : config_(with_slots(small_config(pages))),
        layout_({.variables = 3, .ring = 64, .tickets = 64, .blocks = 256}),
        memory_(static_cast<std::byte*>(std::aligned_alloc(4096, config_.memory.budget + layout_.bytes())),
                std::free),
        storage_(doorbell_),
        slots_(fifo_, {1, 2}),
        engine_(storage_, slots_, clock_, engine),
        ledger_(Ledger::of_nothing(log_)),
        clients_(ledger_, log_, runs_,
                 {engine_, [this](int client, const Config& config) { return make_format(client, config); }}) {
    std::byte* const parts = memory_.get() + config_.memory.budget;
    layout_.construct(parts);
    client_channel_.emplace(layout_.view(parts, {memory_.get(), config_.memory.budget}));
    server_channel_.emplace(layout_.view(parts, {memory_.get(), config_.memory.budget}));
    clients_.begin(0, config_, {*server_channel_, ChannelMemory::control(parts).server_asleep});
    client_.emplace(config_, *this, clock_, log_, trace_);
  }
  ~FrozenNode() override {
    if (!gone_) lose();
  }

  Client& client() { return *client_; }
  void lose() {
    gone_ = true;
    clients_.rings().lose(0, true);
    serve();
  }
  bool gone() const { return gone_ && clients_.members().all().empty(); }
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

  // Implements Place.
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

 private:
  static Config with_slots(Config config) {
    config.storage.slots = true;
    return config;
  }
  std::unique_ptr<Format> make_format(int client, const Config& config) {
    const auto date = [] { return std::string("2026-01-02 03:04:05 +0000"); };
    return std::make_unique<Hdf5Format>(config, storage_.files(), Hdf5Format::Options{client, "machine", date});
  }
  void serve() {
    for (int quiet = 0; quiet < 3;) quiet = clients_.rings().work().more ? 0 : quiet + 1;
  }

  const Config config_;
  const std::string description_ = "a test's";
  SimClock clock_;
  KeptLog log_;
  TraceLog trace_{0};
  const ChannelMemory layout_;
  std::unique_ptr<std::byte, void (*)(void*)> memory_;  // the pool, followed by the channel's parts
  std::optional<Channel> client_channel_;
  std::optional<Channel> server_channel_;
  Doorbell doorbell_;
  MemoryStorage storage_;
  Fifo fifo_;
  Slots slots_;
  Engine engine_;
  Ledger ledger_;
  NoProcesses processes_;
  RunWatch runs_{processes_};
  ServedClients clients_;
  std::optional<Client> client_;
  bool gone_ = false;
};

}  // namespace tailrace::impl
