// Transfers: the bulk data of one peer that wait, go and come, piece by piece, by whichever of its connections.
//
// Several threads use it in a turn of the transport (see Team), one for each connection of the peer; each function
// says which may call it then. No lock is needed:
// - Nothing that comes is added or removed in a turn. Each connection finds memory for a piece there, and takes it by
//   the one bit that they share, so no two of them write to the same bytes. It notes what it has moved for add_up().
// - Of what goes, a further connection reads only the segments of pieces that it was dealt before the turn, and these
//   stay as they are. All else is the first connection's, which has no thread but one.
// - The owner's memory is given back (add_up, end_all) between turns, when no thread touches it.
#pragma once

#include <sys/uio.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "base/status.hpp"
#include "transport/tcp/frame_wire.hpp"
#include "transport/transport.hpp"

namespace tailrace::impl {

class Transfers {
 public:
  // A piece that goes, or what is left of it.
  struct Piece {
    uint64_t number = 0;                           // of its message
    uint32_t place = 0;                            // its own number, from 0
    uint64_t bytes = 0;                            // of all of it
    uint64_t left = 0;                             // bytes that have not gone
    const std::vector<iovec>* segments = nullptr;  // of the message; valid until add_up() has counted the piece
    size_t segment = 0;
    size_t offset = 0;  // bytes, in the segment
  };
  // Bytes of a piece that a connection has moved to its end.
  struct Moved {
    uint64_t number = 0;
    uint64_t bytes = 0;
  };

  // `peer`: of the events.
  explicit Transfers(PeerId peer) : peer_(peer) {}

  // ---- what goes: between turns, or in one by the first connection's thread

  // Adds bulk data, which wait until they are fetched. Returns their number.
  uint64_t add(std::span<const iovec> bulk, uint64_t bytes, uint64_t tag);
  // Returns true if they were neither fetched nor refused.
  bool waits(uint64_t number) const;
  // The next two require waits(). refuse() returns the tag of the send, which has ended.
  void fetch(uint64_t number);
  uint64_t refuse(uint64_t number);
  // Returns the next piece that is to go, which some connection must send now; none: nothing is wanted.
  std::optional<Piece> next_piece();

  // ---- what comes

  // Between turns: expects the bulk data `number` of the other end.
  void expect(uint64_t number, std::span<std::byte> into, uint64_t tag);
  // In a turn, by the thread of any connection: takes the memory of a piece, which the connection then fills. Fails
  // if no such piece was requested, or if it was taken before. Valid until add_up() has counted the piece.
  Result<std::span<std::byte>> take(uint64_t number, uint32_t place, uint64_t bytes) const;

  // ---- between turns

  // Counts what a connection has moved. Appends `sent` and `received` for what has gone or come as a whole.
  void add_up(std::span<const Moved> went, std::span<const Moved> came, std::vector<TransportEvent>& events);
  // Ends everything with this status.
  void end_all(const Status& status, std::vector<TransportEvent>& events);
  // Returns true if bulk data may go or come in the next turn.
  bool is_moving() const { return !wanted_.empty() || !incoming_.empty(); }

 private:
  struct Outgoing {
    std::vector<iovec> segments;  // constant
    uint64_t bytes = 0;           // constant
    uint64_t dealt = 0;           // bytes of pieces that next_piece() has returned
    size_t segment = 0;           // where the next one begins, …
    size_t offset = 0;            // … in bytes of the segment
    uint64_t left = 0;            // bytes that have not gone
    uint64_t tag = 0;
    bool is_wanted = false;
  };
  struct Incoming {
    std::span<std::byte> into;
    uint64_t left = 0;  // bytes that have not come
    uint64_t tag = 0;
    // For each piece: a thread has taken it. The only thing that threads share in a turn. It guards no other memory,
    // whose users the begin and the end of a turn order, so relaxed exchanges suffice.
    mutable std::vector<std::atomic<bool>> taken;
  };

  const PeerId peer_;
  uint64_t last_number_ = 0;
  std::unordered_map<uint64_t, Outgoing> outgoing_;  // by number
  std::deque<uint64_t> wanted_;                      // numbers of those with pieces to deal, in the order of fetches
  std::unordered_map<uint64_t, Incoming> incoming_;  // by number; in a turn only read, but for the bits
};

}  // namespace tailrace::impl
