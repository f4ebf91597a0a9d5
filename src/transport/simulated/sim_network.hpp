// SimNetwork: a network in one process, for tests and the simulator. Its endpoints implement transport.hpp.
//
// It delivers heads and bulk data late and, if asked to, in another order, as the seed decides. Tests cut
// connections, let all packets between two endpoints vanish or bulk data drip, and kill endpoints. A connection that
// ends while bulk data move leaves some of them at the receiver, as a reset in the middle of a frame does. A caller
// is connected before its listener hears of it, which may never be (a half-open connection). Time is the clock's:
// nothing moves until deliver() is called. One thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/sync/doorbell.hpp"
#include "transport/transport.hpp"

namespace tailrace::impl {

class SimEndpoint;

class SimNetwork {
 public:
  struct Options {
    Nanoseconds least = std::chrono::microseconds(10);  // delay of a packet …
    Nanoseconds most = std::chrono::microseconds(100);  // … without its bytes
    uint64_t rate = uint64_t{10} << 30;                 // bytes a second of bulk data
    bool reorder = true;                                // heads may overtake one another
    std::function<void(Nanoseconds)> scheduled = {};    // called with the time until deliver() has more to do
    std::function<void()> arrived = {};                 // called when an endpoint has something to report
  };

  // Borrows the clock.
  SimNetwork(const Clock& clock, uint64_t seed, Options options);
  ~SimNetwork();

  // Adds an endpoint: a process at the address `host`. Both outlive it. `while_waiting` runs the others while the
  // endpoint sleeps in wait(), at most for the given time.
  std::unique_ptr<SimEndpoint> endpoint(Doorbell& doorbell, std::string host,
                                        std::function<void(Nanoseconds)> while_waiting = {});

  // Returns when deliver() has something to do; none: nothing is under way.
  std::optional<Nanoseconds> due() const;
  // Delivers everything that is due now.
  void deliver();

  // Ends all connections between the two hosts; both ends see it.
  void cut(const std::string& one, const std::string& other);
  // From now on, all packets from one host to the other vanish until restore(), or are late by this time; unnoticed.
  void mute(const std::string& from, const std::string& to) { silent_.insert({from, to}); }
  void delay(const std::string& from, const std::string& to, Nanoseconds time) { late_[{from, to}] = time; }
  // From now on, bulk data go that way at this rate, in bytes a second.
  void slow(const std::string& from, const std::string& to, uint64_t rate) { slow_[{from, to}] = rate; }
  // All packets between two hosts vanish.
  void silence(const std::string& one, const std::string& other) {
    mute(one, other);
    mute(other, one);
  }
  // Packets go through again, at once. Those that are late stay late. Those that had vanished are sent again, as a
  // connection that lives loses nothing.
  void restore(const std::string& one, const std::string& other);

 private:
  friend class SimEndpoint;

  struct Send {
    std::vector<iovec> bulk;
    uint64_t bytes = 0;
    uint64_t tag = 0;
  };
  struct Take {
    uint64_t arrival = 0;
    std::span<std::byte> into;
  };
  // One end of a connection.
  struct End {
    SimEndpoint* at = nullptr;  // null: its process or connection is gone
    PeerId other = 0;
    bool lost = false;
    bool is_known = true;               // its owner has heard of it
    std::map<uint64_t, Send> sends;     // by arrival: what the other end has not taken
    std::map<uint64_t, Take> receives;  // by tag
  };

  using Way = std::pair<std::string, std::string>;  // from one host to another

  static Way both(const std::string& one, const std::string& other);
  void after(uint64_t bytes, bool in_order, std::function<void()> act, Nanoseconds late = {});
  Nanoseconds lateness(PeerId from) const;
  Nanoseconds slowness(PeerId to, uint64_t bytes) const;
  bool passes(const End& from, const End& to) const;
  void miss(const End& from, const End& to, std::function<void()> act);
  PeerId connect(SimEndpoint& from, const std::string& address);
  void meet(PeerId from, const std::string& address);
  void make_known(PeerId name, End& end);
  void send(PeerId from, std::span<const std::byte> head, std::span<const iovec> bulk, uint64_t tag);
  void fail(PeerId name, TransportEvent event);
  void arrive(PeerId to, std::vector<std::byte> head, uint64_t arrival, uint64_t bytes);
  void receive(PeerId to, uint64_t arrival, std::span<std::byte> into, uint64_t tag);
  void move_bulk(PeerId to, uint64_t arrival, uint64_t tag);
  void refuse(PeerId to, uint64_t arrival);
  void close(PeerId end);
  void lose(PeerId end, const Status& why);
  void fail_all(PeerId name, End& end, const Status& why);
  void leave_some(const End& end, const Take& take);
  static void copy_bulk(const Send& send, std::span<std::byte> into);
  void gone(SimEndpoint& endpoint);
  End* alive(PeerId end);

  const Clock& clock_;
  const Options options_;
  std::mt19937_64 random_;
  uint64_t order_ = 0;
  Nanoseconds last_in_order_{0};
  PeerId next_end_ = 1;
  uint64_t next_arrival_ = 1;
  std::map<std::pair<Nanoseconds, uint64_t>, std::function<void()>> under_way_;
  std::map<PeerId, End> ends_;
  std::map<std::string, SimEndpoint*> listeners_;  // by address
  std::set<Way> silent_;
  std::map<Way, Nanoseconds> late_;
  std::map<Way, uint64_t> slow_;  // bytes a second
  std::map<Way, std::vector<std::function<void()>>> missed_;
};

// SimEndpoint: the transport of one simulated process. Its end is that of the process: its peers lose it.
class SimEndpoint final : public Transport {
 public:
  ~SimEndpoint() override;

  Result<std::string> listen(const std::string& address) override;
  PeerId connect(const std::string& address) override { return network_.connect(*this, address); }
  void close(PeerId peer) override { network_.close(peer); }
  void send(PeerId peer, std::span<const std::byte> head, std::span<const iovec> bulk, uint64_t tag) override {
    network_.send(peer, head, bulk, tag);
  }
  void receive(PeerId peer, uint64_t arrival, std::span<std::byte> into, uint64_t tag) override {
    network_.receive(peer, arrival, into, tag);
  }
  void refuse(PeerId peer, uint64_t arrival) override { network_.refuse(peer, arrival); }
  void poll(std::vector<TransportEvent>& events) override;
  void wait(Nanoseconds limit) override;
  void use_memory(std::span<std::byte>) override {}

  // Sets the key of the process: only those that have the same meet.
  void use_key(int key) { key_ = key; }
  // The process ends here: nothing leaves it any more.
  void die() { network_.gone(*this); }
  const std::string& host() const { return host_; }

 private:
  friend class SimNetwork;

  SimEndpoint(SimNetwork& network, Doorbell& doorbell, std::string host, std::function<void(Nanoseconds)> waiting)
      : network_(network), doorbell_(doorbell), host_(std::move(host)), while_waiting_(std::move(waiting)) {}
  void put(TransportEvent event);
  void tell();

  SimNetwork& network_;
  Doorbell& doorbell_;
  const std::string host_;
  const std::function<void(Nanoseconds)> while_waiting_;
  int key_ = 0;
  std::vector<TransportEvent> events_;
  std::vector<TransportEvent> lost_;  // reported after `events_`
};

}  // namespace tailrace::impl
