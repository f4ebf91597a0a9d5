// TicketTable: tells a client which of its requests have ended, without locks.
//
// Each slot is one word: the ticket's number and its state. The client opens a ticket, the server ends it, the client
// looks. Numbers never repeat, so a slot can be reused once its ticket has ended. A ticket with a lower number than
// its slot's has ended; if it failed, the failure log knows. `Atomic` as in FreeStack.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>

#include "base/assert.hpp"

namespace tailrace::impl {

enum class TicketState : uint8_t { pending = 1, done = 2, failed = 3 };

template <template <class> class Atomic = std::atomic>
class TicketTable {
 public:
  // All words are zero at first; they outlive the table.
  explicit TicketTable(std::span<Atomic<uint64_t>> words) : words_(words) { TAILRACE_REQUIRE(!words.empty()); }

  // Opens a new ticket; returns 0 if the slot of the next one is still pending. Only the client.
  uint64_t open() {
    Atomic<uint64_t>& word = slot(last_ + 1);
    const uint64_t now = word.load(std::memory_order_acquire);
    if (now != 0 && state_of(now) == TicketState::pending) return 0;
    ++last_;
    // relaxed: the ring that carries the ticket to the server orders this before the server's end().
    word.store(pack(last_, TicketState::pending), std::memory_order_relaxed);
    return last_;
  }

  // Ends a ticket that was not sent to the server. Only the client.
  void withdraw(uint64_t ticket) {
    // relaxed: the server has never seen the ticket, and only the client looks at it.
    slot(ticket).store(pack(ticket, TicketState::done), std::memory_order_relaxed);
  }

  // Ends a ticket. Does nothing if it has ended (an earlier server may have ended it). Only the server.
  void end(uint64_t ticket, bool ok) {
    Atomic<uint64_t>& word = slot(ticket);
    if (!pending(ticket)) return;
    // release: the request's effects (bytes read, a failure logged) come before the client's look; partner: look().
    word.store(pack(ticket, ok ? TicketState::done : TicketState::failed), std::memory_order_release);
  }

  // Returns true if the ticket has not ended. Only the server.
  bool pending(uint64_t ticket) const {
    // relaxed: the client stores no other word there before it has seen this ticket's end.
    return slot(ticket).load(std::memory_order_relaxed) == pack(ticket, TicketState::pending);
  }

  // Returns the ticket's state. A ticket whose slot was reused is `done`, unless the failure log disagrees. Only the
  // client.
  TicketState look(uint64_t ticket) const {
    TAILRACE_REQUIRE(ticket != 0 && ticket <= last_);
    const uint64_t now = slot(ticket).load(std::memory_order_acquire);
    return now >> 2 == ticket ? state_of(now) : TicketState::done;
  }

  // Returns how many can be open at once; a ticket's slot is its number modulo this.
  size_t capacity() const { return words_.size(); }

  // Returns true if such a ticket was ever opened. Only the client.
  bool known(uint64_t ticket) const { return ticket != 0 && ticket <= last_; }

 private:
  static uint64_t pack(uint64_t ticket, TicketState state) { return ticket << 2 | static_cast<uint64_t>(state); }
  static TicketState state_of(uint64_t word) { return static_cast<TicketState>(word & 3); }
  Atomic<uint64_t>& slot(uint64_t ticket) const { return words_[ticket % words_.size()]; }

  std::span<Atomic<uint64_t>> words_;
  uint64_t last_ = 0;  // the client's
};

}  // namespace tailrace::impl
