// Channel: everything that one client and its server share, whatever the place.
//
//   client ── descriptors ──► ring ──► server            (doorbell of the place wakes the server)
//   client ── bytes ──► memory ──► server ──► free stack ──► client
//   client ◄── tickets, failures, counters ── server     (WaitBell wakes the client)
//
// A view: it refers to memory that the place has made, private for place `thread`, shared for `core` (where each side
// has a view of its own), and keeps what each side remembers of it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/sync/free_stack.hpp"
#include "base/sync/spsc_ring.hpp"
#include "base/sync/wait_bell.hpp"
#include "channel/counters.hpp"
#include "channel/failure_log.hpp"
#include "channel/file_log.hpp"
#include "channel/iteration_log.hpp"
#include "channel/iteration_table.hpp"
#include "channel/ticket_table.hpp"
#include "model/wire/descriptor_wire.hpp"

namespace tailrace::impl {

// By block of the pool: the sequence of the last verb that has ended with it, and in which of its lives the server
// said so. Written by the server before it gives the block back, so that after its death another knows what is done,
// and the client which blocks it will never be given back: those that a dead server had ended, and not returned. A
// block that was `held` is not given back yet: actions may look at it, and the next server sees to it.
struct EndedMark {
  static constexpr int kLifeBits = 16;
  static constexpr uint64_t kHeld = uint64_t{1} << kLifeBits;
  static uint64_t make(uint32_t life, uint64_t sequence, bool held = false) {
    return sequence << (kLifeBits + 1) | (held ? kHeld : 0) | life % (1u << kLifeBits);
  }
  static uint64_t sequence(uint64_t mark) { return mark >> (kLifeBits + 1); }
  static bool held(uint64_t mark) { return (mark & kHeld) != 0; }
  // Returns true if the mark was made before the life `now` began.
  static bool is_earlier(uint64_t mark, uint32_t now) {
    const uint32_t since = (now - life(mark)) % (1u << kLifeBits);
    return since != 0 && since < 1u << (kLifeBits - 1);
  }
  static uint32_t life(uint64_t mark) { return static_cast<uint32_t>(mark % (1u << kLifeBits)); }
};

struct Channel {
  std::span<std::byte> memory;             // the pool's bytes
  FreeStack<> returned;                    // server → client
  std::span<std::atomic<uint64_t>> ended;  // see EndedMark
  SpscRing<Descriptor> ring;               // client → server
  TicketTable<> tickets;                   // the client opens, the server ends
  WaitBell& client_bell;                   // the server rings
  FailureLog failures;                     // the server adds, the client takes
  ServerCounters& counters;                // the server writes, the client reads
  std::span<VariableCounters> variables;   // by variable; likewise
  IterationLog iterations;                 // the server writes, anybody reads
  FileLog files;                           // both write, anybody reads
  IterationTable<> unfinished;             // the client takes words, the server gives them back
  std::atomic<uint32_t>& life;             // the server writes, when it begins: which of its lives this is
  // How the server learns that the client waits for memory, which it may keep for longer than writing takes. The
  // client rings when it has written, and the server when it has seen that and there is something to take. The server
  // writes how many blocks it has given back; the client 1 + how many it has had back when it found no room, or 0.
  std::atomic<uint64_t>& given_back;
  std::atomic<uint64_t>& hungry;
  // How many clients that have yet to come the end of this one's close waits for. The server writes, the client
  // reads: the server does not hang meanwhile, and gives them up in its own time.
  std::atomic<uint32_t>& awaited;
  // Set when the memory that the two share has gone: bytes that are read from it afterwards mean nothing. Null: the
  // memory cannot go.
  const std::atomic<bool>* lost = nullptr;

  // acquire: who has read a zero in the place of what is gone sees this; partner: MemoryGuard.
  bool is_lost() const { return lost != nullptr && lost->load(std::memory_order_acquire); }
};

}  // namespace tailrace::impl
