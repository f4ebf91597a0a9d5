// ForwardRig: forwarders and clients on a simulated network, on one thread and with simulated time.
//
// turn() lets everybody do what there is to do, and advances the clock to the next event. While a client waits inside
// a call, the rig runs all others.
#pragma once

#include <gtest/gtest.h>

#include <chrono>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "engine/engine.hpp"
#include "engine/schedule/fifo.hpp"
#include "forward/forwarder.hpp"
#include "storage/remote/remote_storage.hpp"
#include "testing/kept_log.hpp"
#include "testing/plain_storage.hpp"
#include "testing/sim_clock.hpp"
#include "transport/simulated/sim_network.hpp"

namespace tailrace::impl {

// A forwarder with all its parts, at the address `host`.
class ForwarderNode {
 public:
  ForwarderNode(SimNetwork& network, const Clock& clock, std::string name, Forwarder::Options options = {},
                uint64_t memory = uint64_t{64} << 20, EngineOptions engine_options = {})
      : host(std::move(name)),
        bytes(memory),
        storage(doorbell),
        engine(storage, fifo, clock, engine_options),
        endpoint(network.endpoint(doorbell, host)),
        links(*endpoint, clock, log, encode_terms(Forwarder::terms(options), host), link_options(options)),
        forwarder(links, engine, bytes, clock, log, options,
                  [](const Forwarder::View& view) { return std::to_string(view.clients.size()) + " clients"; }) {
    EXPECT_TRUE(links.listen(host).ok());
  }
  // Its end is that of a killed process. What the engine still has is carried out, but nobody is told; with
  // `storage.failure` it is not carried out either.
  ~ForwarderNode() {
    endpoint->die();
    storage.held = false;
    for (int i = 0; i < 100'000 && !engine.idle(); ++i) engine.progress();
  }

  const std::string host;
  Doorbell doorbell;
  KeptLog log;
  std::vector<std::byte> bytes;
  PlainStorage storage;
  Fifo fifo;
  Engine engine;
  std::unique_ptr<SimEndpoint> endpoint;
  Links links;
  Forwarder forwarder;

 private:
  static Links::Options link_options(const Forwarder::Options& options) {
    Links::Options links;
    links.silence = links.lease = options.lease;
    return links;
  }
};

class ForwardRig {
 public:
  explicit ForwardRig(uint64_t seed = 1, SimNetwork::Options options = {}) : network(clock, seed, options) {}

  ForwarderNode& add_forwarder(const std::string& host, Forwarder::Options options = {},
                               uint64_t memory = uint64_t{64} << 20) {
    auto& node = forwarders[host];
    node = std::make_unique<ForwarderNode>(network, clock, host, options, memory);
    return *node;
  }
  // Ends a forwarder's process at once.
  void kill(const std::string& host) { forwarders.erase(host); }

  // Makes the storage of a client at `host`. Fails as RemoteStorage::create does.
  Result<std::unique_ptr<RemoteStorage>> connect(Doorbell& doorbell, Log& log, const std::string& host,
                                                 std::vector<std::string> servers,
                                                 RemoteFiles::OnLoss on_loss = RemoteFiles::OnLoss::next,
                                                 TransferRecord::Confirm confirm = TransferRecord::Confirm::written,
                                                 bool spread = false) {
    RemoteStorage::Options options;
    options.spread = spread;
    options.servers = std::move(servers);
    options.on_loss = on_loss;
    options.confirm = confirm;
    options.name = host;
    options.output = output;
    options.process = ++processes_;
    std::unique_ptr<Storage> local;
    if (on_loss == RemoteFiles::OnLoss::direct) {
      auto plain = std::make_unique<PlainStorage>(doorbell);
      last_local = plain.get();
      local = std::move(plain);
    }
    auto endpoint = network.endpoint(doorbell, host, [this](Nanoseconds limit) { turn(limit); });
    endpoint->use_key(client_key);
    return RemoteStorage::create(std::move(endpoint), std::move(local), clock, doorbell, log, options);
  }

  // Lets all forwarders work, and advances the clock to the next event, by `limit` at most.
  void turn(Nanoseconds limit = std::chrono::milliseconds(100)) {
    if (during_turn) during_turn();
    network.deliver();
    bool worked = false;
    std::optional<Nanoseconds> next = network.due();
    for (auto& [host, node] : forwarders) {
      worked = node->forwarder.step() || worked;
      const std::optional<Nanoseconds> due = node->forwarder.due();
      if (due && (!next || *due < *next)) next = due;
    }
    if (worked) return;
    const Nanoseconds now = clock.now();
    const Nanoseconds step = next ? std::max(*next - now, Nanoseconds(1)) : limit;
    clock.advance(std::min(step, std::max(limit, Nanoseconds(1))));
  }

  SimClock clock;
  SimNetwork network;
  std::string output = "/out/run";                                   // of clients
  int client_key = 0;                                                // that of forwarders is 0
  std::map<std::string, std::unique_ptr<ForwarderNode>> forwarders;  // by address
  PlainStorage* last_local = nullptr;                                // that of the last client with OnLoss::direct
  std::function<void()> during_turn;

 private:
  uint64_t processes_ = 0;  // so far
};

// A client: a remote storage, driven without an engine.
class ForwardedClient {
 public:
  ForwardedClient(ForwardRig& rig, std::vector<std::string> servers,
                  RemoteFiles::OnLoss on_loss = RemoteFiles::OnLoss::next,
                  TransferRecord::Confirm confirm = TransferRecord::Confirm::written, std::string host = "node",
                  bool spread = false)
      : rig_(rig), storage_(rig.connect(doorbell, log, host, std::move(servers), on_loss, confirm, spread)) {
    EXPECT_TRUE(storage_.ok()) << storage_.status().fault().message;
  }

  RemoteStorage& storage() { return *storage_.value(); }
  FileSystem& files() { return storage().files(); }

  FileHandle open(const std::string& path, OpenMode mode = OpenMode::create) {
    const Result<Opened> opened = files().open(path, mode, 0);
    EXPECT_TRUE(opened.ok()) << opened.status().fault().message;
    return opened.ok() ? opened.value().file : 0;
  }
  // Submits a transfer; its result appears in `results` under `tag`.
  void submit(Transfer::Kind kind, FileHandle file, uint64_t offset, std::span<const iovec> segments, uint64_t tag) {
    Transfer transfer;
    transfer.kind = kind;
    transfer.file = file;
    transfer.offset = offset;
    transfer.segments = segments;
    transfer.tag = tag;
    storage().submit(transfer);
    ++under_way;
  }
  void reap() {
    std::vector<Completion> done(64);
    const size_t count = storage().reap(done);
    for (size_t i = 0; i < count; ++i) {
      EXPECT_TRUE(results.emplace(done[i].tag, done[i].result).second)
          << "transfer " << done[i].tag << " ended twice";
      --under_way;
    }
  }
  void run_until_idle() {
    for (int rounds = 0; under_way > 0; ++rounds) {
      ASSERT_LT(rounds, 1'000'000) << "the transfers do not come to an end";
      reap();
      if (under_way > 0) rig_.turn();
    }
  }
  int64_t run(Transfer::Kind kind, FileHandle file, uint64_t offset, std::span<std::byte> bytes) {
    const iovec segment{bytes.data(), bytes.size()};
    results.erase(kAlone);
    submit(kind, file, offset, {&segment, bytes.empty() ? size_t{0} : size_t{1}}, kAlone);
    run_until_idle();
    return results.at(kAlone);
  }

  static constexpr uint64_t kAlone = UINT64_MAX - 1;

  Doorbell doorbell;
  KeptLog log;
  std::map<uint64_t, int64_t> results;  // by tag
  size_t under_way = 0;

 private:
  ForwardRig& rig_;
  Result<std::unique_ptr<RemoteStorage>> storage_;
};

}  // namespace tailrace::impl
