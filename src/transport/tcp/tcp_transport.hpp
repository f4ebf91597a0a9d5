// TcpTransport: the transport over TCP, with TLS 1.3 and a pre-shared key (tls.hpp). Implements the port
// transport.hpp; a Connection does the work of each connection, and a Peer holds those of one peer: the first one, by
// whose number the owner knows it, and further ones, where both ends have more than one to give it.
//
// A listener binds only the configured address; a caller listens nowhere. A stranger, who has not shown that he
// has the key, costs a socket and what TLS needs for a handshake. The system keeps connections without a byte to
// itself for a second. There are few strangers at once, of one host still fewer; who takes too long gives way. The
// owner hears of nobody else than those who have the key; TransportEvent::refused tells its log of the others.
//
// Where bulk data move by several connections at once, poll() has a Team move them, one thread a connection, and goes
// on when all have moved. All else, and all other calls, are the owner's thread's alone.
//
// Host names are resolved inside connect() and listen(), which is the one thing that may take time there.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/net/socket_address.hpp"
#include "base/os/epoll_set.hpp"
#include "base/os/file_descriptor.hpp"
#include "base/sync/doorbell.hpp"
#include "transport/tcp/connection.hpp"
#include "transport/tcp/peer.hpp"
#include "transport/tcp/team.hpp"
#include "transport/tcp/tls.hpp"
#include "transport/transport.hpp"
#include "transport/transport_module.hpp"

namespace tailrace::impl {

class TcpTransport final : public Transport {
 public:
  static constexpr Nanoseconds kLongestSleep = std::chrono::hours(1);  // of the owner, if nothing happens
  static constexpr size_t kMostByItself = 4;                           // threads, by default
  static constexpr Nanoseconds kLongestEnd = std::chrono::seconds(2);  // for the other end to have had everything

  // Fails with TAILRACE_UNSUPPORTED if TLS cannot be used here. The doorbell outlives the transport.
  static Result<std::unique_ptr<TcpTransport>> create(Doorbell& doorbell, const TransportOptions& options);
  ~TcpTransport() override;

  Result<std::string> listen(const std::string& address) override;
  PeerId connect(const std::string& address) override;
  void close(PeerId id) override;
  void send(PeerId id, std::span<const std::byte> head, std::span<const iovec> bulk, uint64_t tag) override;
  void receive(PeerId id, uint64_t arrival, std::span<std::byte> into, uint64_t tag) override;
  void refuse(PeerId id, uint64_t arrival) override;
  void poll(std::vector<TransportEvent>& events) override;
  void wait(Nanoseconds limit) override;
  void use_memory(std::span<std::byte>) override {}
  Status use_keys(std::vector<PreSharedKey> keys) override;

 private:
  static constexpr uint64_t kListener = 0;  // numbers of descriptors; those of connections are theirs
  static constexpr uint64_t kTimer = UINT64_MAX;
  static constexpr size_t kMostHeard = 2;  // strangers in one poll(): a handshake takes long, and others wait for it
  static constexpr Nanoseconds kLeastTurn = std::chrono::milliseconds(100);  // of a stranger, if others wait

  // A connection that has been accepted, and has not shown yet that it has the key.
  struct Stranger {
    std::string host;
    Nanoseconds since{0};
    std::unique_ptr<Connection> connection;
  };
  // A connection for which there was no room yet.
  struct Waiting {
    FileDescriptor socket;
    std::string address;
  };
  struct Leaving {
    std::unique_ptr<Connection> connection;
    Nanoseconds until{0};
  };
  // A connection in a turn of poll(). In it, one thread of the team alone uses the connection and `more`.
  struct Move {
    PeerId peer = 0;
    Connection* connection = nullptr;
    bool more = false;  // there may be more to do at once
  };

  TcpTransport(Doorbell& doorbell, const TransportOptions& options, std::unique_ptr<Tls> tls, EpollSet set,
               FileDescriptor timer);
  Status begin_connecting(PeerId id, const std::string& address);
  Result<FileDescriptor> call(PeerId id, const SocketAddress& where, const std::string& address);
  void call_further(PeerId id, Peer& peer);
  void look(std::optional<Nanoseconds> limit);
  void accept_some();
  bool accept_one();
  bool make_room(const std::string& host);
  void hear_stranger(PeerId id);
  void accept(PeerId id);
  void take_in(PeerId id);
  void drop_stranger(PeerId id, const Status& why);
  void move(std::span<Move> turn);
  void settle(PeerId id);
  Connection* find(PeerId id, PeerId& peer);
  void look_after_further();
  size_t most_connections();
  void drop_the_slow();
  void end_the_left();
  void set_timer();
  bool tell_losses();
  Connection& known(PeerId id);
  void begin(Connection& connection);

  Doorbell& doorbell_;
  const TransportOptions options_;
  std::shared_ptr<const Tls> tls_;  // of connections that begin; each keeps the one with which it began
  EpollSet set_;
  const FileDescriptor timer_;
  FileDescriptor listener_;
  bool may_accept_ = false;  // the listener may have more
  std::optional<Waiting> waiting_;
  std::vector<TransportEvent> events_;          // since the last poll()
  std::map<PeerId, Stranger> strangers_;        // the oldest first
  std::unordered_map<PeerId, Peer> peers_;      // by the number of the first connection
  std::unordered_map<PeerId, PeerId> further_;  // peers of further connections, by the numbers of these
  std::map<PeerId, Leaving> leaving_;
  std::vector<PeerId> busy_;                       // connections that may have something to do
  std::vector<std::pair<PeerId, Status>> failed_;  // of connections that never were; their owner must hear of it
  Nanoseconds beat_at_{0};                         // when further connections are looked after next
  bool some_have_further_ = false;                 // of the peers, at the last time
  std::optional<Nanoseconds> set_for_;             // the time at which the timer rings
  PeerId last_ = 0;
  std::optional<size_t> most_connections_;  // none: not needed yet
  std::unique_ptr<Team> team_;              // from the first turn that needs it
};

}  // namespace tailrace::impl
