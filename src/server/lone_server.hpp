// LoneServer: a server whose only client is in its own process. If it dies, its client dies with it, so that nothing
// needs to be recorded for another server.
#pragma once

#include <atomic>
#include <optional>
#include <utility>

#include "base/assert.hpp"
#include "place/acceptor.hpp"
#include "recovery/ledger.hpp"
#include "server/server_core.hpp"

namespace tailrace::impl {

class LoneServer : private Acceptor {
 public:
  // Borrows all but `config`. `doorbell`: the client's side rings it. `trace`: for what the server does.
  LoneServer(const Clock& clock, const ProcessClock& processes, Doorbell& doorbell, Log& log, int client,
             const Config& config, ServerCore::Equipment equipment, Channel& channel, TraceLog& trace)
      : doorbell_(doorbell),
        client_(client),
        ledger_(Ledger::of_nothing(log)),
        core_(clock, processes, doorbell, ledger_, log, {}) {
    core_.equip(config, std::move(equipment));
    core_.begin(client, config, {channel, asleep_, getpid(), /*shares_memory=*/true, &trace});
  }

  // Serves until end() was called and everything that the client has sent has ended.
  void run() {
    core_.run(*this);
    core_.finish();
  }
  // Notes that the client sends nothing more. Any thread.
  void end() {
    // release: a server that sees it sees everything sent before; partner: the acquire in has_news().
    ending_.store(true, std::memory_order_release);
    doorbell_.ring();
  }

 protected:
  // Implements Acceptor, which meets no client.
  void wait(std::optional<Nanoseconds> limit) override {
    if (limit != Nanoseconds::zero()) doorbell_.sleep(limit);
  }

 private:
  void begin_round() override {
    if (!has_news()) return;
    lost_ = true;
    core_.lose(client_, false);
  }
  bool has_news() const override { return !lost_ && ending_.load(std::memory_order_acquire); }
  bool has_company() const override { return false; }
  void distrusted(int, const Status&) override { TAILRACE_ASSERT(false); }
  void dismissed(int, bool) override {}

  Doorbell& doorbell_;
  const int client_;
  Ledger ledger_;
  SleepFlag<> asleep_;  // for no one: the client looks at the doorbell
  ServerCore core_;
  bool lost_ = false;
  std::atomic<bool> ending_{false};  // set by end(), read by the server
};

}  // namespace tailrace::impl
