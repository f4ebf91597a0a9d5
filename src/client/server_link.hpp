// ServerLink: a client's link to its server. Sends descriptors, opens tickets, waits for room and for ends.
//
// It knows which verb each block of the pool was sent with, but neither what is in the blocks nor which are free:
// ClientMemory knows that. Runs on the client's thread; no lock, no allocation, no system call but to wake a sleeping
// server or to sleep where a function waits.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/function_ref.hpp"
#include "base/status.hpp"
#include "channel/open_ticket.hpp"
#include "client/client_meter.hpp"
#include "place/place.hpp"

namespace tailrace::impl {

class ServerLink {
 public:
  // Borrows the first two. `tells_waits`: the link rings for the server when the client begins to wait, so that the
  // server holds nothing back any longer.
  ServerLink(Place& place, ClientMeter& meter, bool tells_waits);

  // Returns true if the server can read the client's own memory, and not only the pool.
  bool reaches_client() const { return place_.reaches_client(); }

  // ---- sending ----

  // Each call numbers the descriptor, waits while the ring is full, and fails if there is no server.
  Status send(Descriptor& descriptor);
  // Sends a verb with its block of the pool, which the server gives back when the verb has ended. Returns the verb's
  // sequence. If it fails, the caller still has the block.
  Result<uint64_t> send_with_block(Descriptor& descriptor);
  // Sends a verb with a new ticket of the variable (kNone: of no variable), and returns the ticket.
  Result<uint64_t> send_with_ticket(Descriptor& descriptor, uint32_t variable);
  // Sends a verb with a new ticket and waits for its end. Sets `in_use` to true if a server may still use its block.
  Status ask(Descriptor descriptor, bool& in_use);
  // Sends a flush or a close; its ticket ends when every verb sent before has ended.
  Result<uint64_t> send_flush(Verb verb);

  // ---- tickets ----

  // Opens a ticket of `variable` (kNone: of no variable). Waits while too many are pending.
  Result<OpenTicket> open_ticket(uint32_t variable);
  uint32_t variable_of(uint64_t ticket) const { return ticket_variable_[ticket % ticket_variable_.size()]; }
  // Returns true if the ticket is one of this client's.
  bool knows(uint64_t ticket) const { return channel_.tickets.known(ticket); }
  bool is_pending(uint64_t ticket) const { return channel_.tickets.look(ticket) == TicketState::pending; }
  // Returns true if it has ended without a failure.
  bool is_done(uint64_t ticket) const { return channel_.tickets.look(ticket) == TicketState::done; }
  // Waits until the ticket has ended; fails as Place::wait does.
  Status wait_for(uint64_t ticket, std::optional<std::chrono::milliseconds> timeout);
  // Waits without a limit, and counts the time. Fails only if the ticket can no longer end.
  Status outwait(uint64_t ticket);
  // Returns why an ended ticket failed, or ok. The failure then counts as seen.
  Status end_of(uint64_t ticket);
  // Waits for the ticket without a limit, and returns the status of its verb.
  Status await(uint64_t ticket);

  // ---- room ----

  // Waits for the server to make room: for memory, in the ring, for a ticket or for an iteration. Counts the time.
  Status wait_for_room(FunctionRef<bool()> ready);
  // Checks once, and notices a server that has died. Returns TAILRACE_TIMEOUT if `ready` is false.
  Status look_for_room(FunctionRef<bool()> ready) { return place_.wait(ready, Nanoseconds::zero()); }

  // ---- blocks of the pool ----

  // Returns true if the verb with that sequence, which the block was sent with, has not ended.
  bool is_pending(uint32_t block, uint64_t sequence) const {
    // relaxed: if this misses an end, the read counts as before it.
    return EndedMark::sequence(channel_.ended[block].load(std::memory_order_relaxed)) < sequence;
  }
  // Notes that the client has the block again.
  void has_come_back(uint32_t block) { sent_[block] = 0; }
  // Returns true once if another server has replaced a dead one since the last call.
  bool take_loss();
  // Returns the server's present life, for was_left_by_the_dead(). The server may die, and another begin, at any
  // moment.
  uint32_t life() const;
  // Returns true if a server before that of `life` had finished with the block, so that no server will give it back.
  bool was_left_by_the_dead(uint32_t block, uint32_t life) const;

 private:
  Status sleep_until(FunctionRef<bool()> ready, std::optional<Nanoseconds> timeout);
  // Constant after construction.
  Place& place_;
  Channel& channel_;
  ClientMeter& meter_;
  const bool tells_waits_;

  // Used by the client's thread only.
  uint64_t sequence_ = 0;
  uint32_t losses_ = 0;                    // lost servers of the place, at the last look
  std::vector<uint64_t> sent_;             // by block of the pool: sequence of the verb it was sent with, or 0
  std::vector<uint32_t> ticket_variable_;  // by slot of the ticket table: variable of the latest ticket there
};

}  // namespace tailrace::impl
