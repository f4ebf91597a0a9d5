// ServerLink: a client's way to its server. Sends descriptors, opens tickets, waits for room and for ends.
//
// It knows which verb each block of the pool went away with, but neither what is in the blocks nor which are free:
// that is ClientMemory's. The client's thread; no lock, no allocation, no system call but to wake a sleeping server
// or to sleep where a function says that it waits.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/function_ref.hpp"
#include "base/status.hpp"
#include "client/client_meter.hpp"
#include "place/place.hpp"

namespace tailrace::impl {

class ServerLink {
 public:
  // Both are borrowed.
  // `tells_waits`: the server is rung when the client begins to wait, so that it holds nothing back any more.
  ServerLink(Place& place, ClientMeter& meter, bool tells_waits);

  // Returns true if the server can read the client's own memory, and not only the pool.
  bool reaches_client() const { return place_.reaches_client(); }

  // ---- sending: each numbers the descriptor, waits while the ring is full, and fails if there is no server ----
  Status send(Descriptor& descriptor);
  // Sends a verb with its block of the pool, which comes back when the verb has ended. Returns the verb's sequence.
  Result<uint64_t> send_with_block(Descriptor& descriptor);
  // Sends a verb with a new ticket of the variable (kNone: of none), and returns the ticket.
  Result<uint64_t> send_with_ticket(Descriptor& descriptor, uint32_t variable);
  // Sends a verb with a new ticket and waits for its end. `in_use`: set to whether a server may use its block still.
  Status ask(Descriptor descriptor, bool& in_use);
  // Sends a flush or a close; its ticket ends when all that was sent before has ended.
  Result<uint64_t> send_flush(Verb verb);

  // ---- tickets ----
  // Waits while too many are pending. `variable`: what the ticket is of, or kNone.
  Result<uint64_t> open_ticket(uint32_t variable);
  uint32_t variable_of(uint64_t ticket) const { return ticket_variable_[ticket % ticket_variable_.size()]; }
  // Returns true if the ticket is one of this client's.
  bool knows(uint64_t ticket) const { return channel_.tickets.known(ticket); }
  bool is_pending(uint64_t ticket) const { return channel_.tickets.look(ticket) == TicketState::pending; }
  // Returns true if it has ended without a failure.
  bool is_done(uint64_t ticket) const { return channel_.tickets.look(ticket) == TicketState::done; }
  // Waits until the ticket has ended; fails as Place::wait does.
  Status wait_for(uint64_t ticket, std::optional<std::chrono::milliseconds> timeout);
  // Waits without a limit, and counts the time; fails only if no end can come any more.
  Status outwait(uint64_t ticket);
  // Returns why an ended ticket failed, or ok. Its failure counts as seen from now on.
  Status end_of(uint64_t ticket);
  // Outwaits the ticket, and returns how its verb went.
  Status await(uint64_t ticket);

  // ---- room ----
  // Waits for the server to make room: for memory, in the ring, for a ticket or for an iteration. Counts the time.
  Status wait_for_room(FunctionRef<bool()> ready);
  // Looks once, and takes notice of a server that has died. TAILRACE_TIMEOUT if it is not ready.
  Status look_for_room(FunctionRef<bool()> ready) { return place_.wait(ready, Nanoseconds::zero()); }

  // ---- blocks of the pool ----
  // Returns true if the verb that the block went away with, of that sequence, has yet to end.
  bool is_pending(uint32_t block, uint64_t sequence) const {
    // relaxed: an end that is not seen yet is of a moment that this read may come before.
    return EndedMark::sequence(channel_.ended[block].load(std::memory_order_relaxed)) < sequence;
  }
  // Says that the block is with the client again.
  void has_come_back(uint32_t block) { sent_[block] = 0; }
  // Returns true, once, if another server has taken the place of one that died since this was asked last.
  bool take_loss();
  // Returns the server's present life, for was_left_by_the_dead(). It may die, and another begin, at any moment.
  uint32_t life() const;
  // Returns true if an earlier server than the one of `life` had done with the block, so that it will not come back.
  bool was_left_by_the_dead(uint32_t block, uint32_t life) const;

 private:
  Status sleep_until(FunctionRef<bool()> ready, std::optional<Nanoseconds> timeout);
  // Constant after construction.
  Place& place_;
  Channel& channel_;
  ClientMeter& meter_;
  const bool tells_waits_;

  // The client's thread only.
  uint64_t sequence_ = 0;
  uint32_t losses_ = 0;                    // of the place, as of the last look
  std::vector<uint64_t> sent_;             // by block of the pool: the verb that it went away with, or 0
  std::vector<uint32_t> ticket_variable_;  // by slot of the ticket table: what the latest ticket there is of
};

}  // namespace tailrace::impl
