// FrameReader: what one connection receives: frames, one behind the other. It judges the head of each before what
// follows, gives that its memory, and keeps messages' bulk data, or their number, until somebody fetches them.
//
// It takes nothing from the other end on trust: each number is checked before memory is used for it. One thread at a
// time, see Connection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/status.hpp"
#include "transport/tcp/frame_wire.hpp"
#include "transport/tcp/tls.hpp"
#include "transport/tcp/transfers.hpp"
#include "transport/transport.hpp"

namespace tailrace::impl {

// By which a further connection joins a peer.
struct Invitation {
  uint64_t peer = 0;  // as the listener numbers it
  JoinSecret secret = {};
  uint64_t most = 0;  // further connections
};

class FrameReader {
 public:
  static constexpr size_t kMostWhole = size_t{16} << 10;     // bytes of bulk data that travel with their head
  static constexpr size_t kMostArrivals = 65536;             // messages whose bulk data were not fetched
  static constexpr uint64_t kMostKept = uint64_t{16} << 20;  // bytes of those that came with their heads
  static constexpr size_t kMostAtOnce = size_t{1} << 20;     // bytes that one read() takes

  // The frames that may come: a peer's first connection gets messages, and a further one pieces of bulk data, once it
  // has said whom it joins, or has heard that it has.
  enum class Expects : uint8_t { messages, join, joined, pieces };

  // Bulk data of the other end that were not fetched.
  struct Arrival {
    uint64_t number = 0;  // 0: they came with their head
    uint64_t bytes = 0;
    std::vector<std::byte> kept;
  };

  // Borrows the stream. `peer`: of the events; `calls`: this end has connected.
  FrameReader(TlsStream& stream, PeerId peer, bool calls) : stream_(stream), peer_(peer), calls_(calls) {}

  void expect(Expects what) { expects_ = what; }
  Expects expects() const { return expects_; }

  // Reads what is there, and appends what has happened. Returns true if there may be more to read at once; false also
  // when somebody asks to join. Fails with the stream, or if the other end breaks the protocol.
  Result<bool> read(Transfers& transfers, std::vector<TransportEvent>& events);
  // Returns how many bytes have come.
  uint64_t heard() const { return heard_; }

  // Returns the invitation that has come, once, or none.
  std::optional<Invitation> take_invitation() { return std::exchange(invitation_, std::nullopt); }
  // Returns the peer and the secret that a further connection has named, or null. Nothing is read before it is let
  // in.
  const Invitation* asks() const { return asks_ ? &*asks_ : nullptr; }
  void let_in();

  // Returns the bulk data that a message has announced under this name, once; none: there are no such, or no more.
  std::optional<Arrival> claim(uint64_t name);
  void forget_arrivals() { arrivals_.clear(); }
  // Returns the pieces that have come as a whole since the last call.
  std::vector<Transfers::Moved> take_came() { return std::exchange(came_, {}); }

 private:
  std::span<std::byte> next_part();
  Status take_part(size_t bytes, Transfers& transfers, std::vector<TransportEvent>& events);
  bool may_come(FrameKind kind) const;
  Status check_head(const Transfers& transfers);
  Status end_frame(Transfers& transfers, std::vector<TransportEvent>& events);
  Status deliver(std::vector<TransportEvent>& events);

  TlsStream& stream_;
  const PeerId peer_;
  const bool calls_;
  Expects expects_ = Expects::messages;
  uint64_t heard_ = 0;  // bytes

  FrameHead head_;
  size_t head_done_ = 0;  // bytes of it
  size_t body_done_ = 0;  // bytes behind it
  std::vector<std::byte> body_;
  std::span<std::byte> piece_;            // memory of the piece that comes
  std::vector<Transfers::Moved> came_;    // pieces not counted yet
  std::optional<Invitation> invitation_;  // not taken yet
  bool is_invited_ = false;
  std::optional<Invitation> asks_;                  // to join
  std::unordered_map<uint64_t, Arrival> arrivals_;  // by the number that the owner has
  uint64_t last_announced_ = 0;                     // number of the other end's
  uint64_t kept_ = 0;                               // bytes
  uint64_t last_arrival_ = 0;
};

}  // namespace tailrace::impl
