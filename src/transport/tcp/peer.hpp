// Peer: the connections of one peer of a transport over TCP, which are one connection to the transport's owner: the
// first one, and further ones, which carry pieces of bulk data beside it.
//
// A further connection is no one's until it has shown that it knows the peer's secret, which was told inside TLS: who
// has the key alone cannot put bytes into another one's transfers. One that cannot be made means that there are
// fewer. One that fails or falls silent later is the loss of the peer, since pieces are lost with it. A peer that
// leaves says so on each of its connections; then the first one has the last word, since what went by it last may
// still be on the way.
//
// Used between turns of the transport only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.hpp"
#include "transport/tcp/connection.hpp"
#include "transport/transport.hpp"

namespace tailrace::impl {

class Peer {
 public:
  static constexpr size_t kMostPieces = 4;  // that a connection has to send: as much as one move() writes

  enum class News { none, opened, lost };

  explicit Peer(std::unique_ptr<Connection> first)
      : first_(std::move(first)), was_open_(first_->phase() == Connection::Phase::open) {}

  Connection& first() { return *first_; }
  // Returns the connection of this number, or null.
  Connection* find(PeerId id);

  // A listener's: tells the other end that it may make further connections until then. Fails if the system has no
  // random bytes.
  Status invite(uint64_t most, Nanoseconds until);
  bool is_invited() const { return invitation_.has_value(); }
  // Takes in a further connection that asks to join, if it knows the secret, and comes in time, and not once too
  // often. Returns false if not.
  bool take_in(std::unique_ptr<Connection>& further, Nanoseconds now);
  // A caller's: adds a further connection that has begun.
  void add(std::unique_ptr<Connection> further) { further_.push_back(std::move(further)); }

  // Returns true if it has further connections, or had some that it has lost.
  bool has_further() const { return !further_.empty() || has_lost_one_; }
  // Call it from time to time: further connections say that they are there, and one by which nothing has come for
  // `silence`, or that has ended as long ago, is the loss of the peer. Appends the numbers of those that have
  // something to say.
  void look_after(Nanoseconds now, Nanoseconds silence, std::vector<PeerId>& busy);

  // After connections have moved: appends what has happened. Closes further connections that have ended, and all if
  // the peer is lost; appends their numbers. Returns, once each, that the first connection has opened, and that the
  // peer is lost.
  News settle(std::vector<TransportEvent>& events, std::vector<PeerId>& closed);
  // Deals pieces out to the connections. Appends the numbers of those that have got some.
  void deal(std::vector<PeerId>& busy);

  // Ends everything that uses memory of the owner. Returns all connections, which may still have something to say.
  std::vector<std::unique_ptr<Connection>> leave();

 private:
  std::unique_ptr<Connection> first_;
  bool was_open_;
  bool was_lost_ = false;
  std::vector<std::unique_ptr<Connection>> further_;  // those of a caller may not have joined yet
  bool is_shared_ = false;                            // some have
  bool has_lost_one_ = false;                         // a further one has said goodbye …
  std::optional<Nanoseconds> lost_one_;               // … before this time
  std::optional<Invitation> invitation_;              // of a listener; `most`: that may still join
  Nanoseconds until_{0};
};

}  // namespace tailrace::impl
