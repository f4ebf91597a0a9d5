// Channel: the state that one client and its server share, in every place.
//
//   client ── descriptors ──► ring ──► server            (doorbell of the place wakes the server)
//   client ── bytes ──► memory ──► server ──► free stack ──► client
//   client ◄── tickets, failures, counters ── server     (WaitBell wakes the client)
//
// It is a view: it refers to memory that the place has made, private for place `thread`, shared for `core`. There
// each side has a view of its own, with private state of that side.
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

// One mark per block of the pool: the sequence of the last verb that ended with it, and the server's life that noted
// it. The server writes the mark before it returns the block. After its death, another server learns from the marks
// which verbs are done. The client learns which blocks it will never get back: those that a dead server had ended and
// not returned. A `held` block is not returned yet: actions may still read it, and the next server takes care of it.
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
  std::span<VariableCounters> variables;   // one per variable; the server writes, the client reads
  IterationLog iterations;                 // the server writes, anybody reads
  FileLog files;                           // both write, anybody reads
  IterationTable<> unfinished;             // the client takes words, the server gives them back
  std::atomic<uint32_t>& life;             // the number of the server's life; the server writes it when it begins
  // Tells the server that the client waits for memory, which the server may keep for longer than writing takes. The
  // client rings after it writes `hungry`; the server rings when it has seen that and there is memory to take.
  // `given_back`: how many blocks the server has returned. `hungry`: 1 + how many blocks the client had got back when
  // it found no memory, or 0.
  std::atomic<uint64_t>& given_back;
  std::atomic<uint64_t>& hungry;
  // The number of clients that have not come yet and that the end of this client's close waits for. The server
  // writes, the client reads: meanwhile the server is not hanging, and gives up those clients by its own timeout.
  std::atomic<uint32_t>& awaited;
  // Set when the shared memory is lost: bytes read from it afterwards are invalid. Null if it cannot be lost.
  const std::atomic<bool>* lost = nullptr;

  // acquire: a thread that has read a zero in place of lost memory sees this flag; partner: MemoryGuard.
  bool is_lost() const { return lost != nullptr && lost->load(std::memory_order_acquire); }
};

}  // namespace tailrace::impl
