// Channel: everything that one client and its server share, whatever the place.
//
//   client ── descriptors ──► ring ──► server            (doorbell of the place wakes the server)
//   client ── bytes ──► memory ──► server ──► free stack ──► client
//   client ◄── tickets, failures, counters ── server     (WaitBell wakes the client)
//
// A view: it holds references to memory that the place has made, private for place `thread`, shared for `core`.
#pragma once

#include <cstddef>
#include <span>

#include "base/free_stack.hpp"
#include "base/spsc_ring.hpp"
#include "base/wait_bell.hpp"
#include "model/descriptor_wire.hpp"
#include "place/counters.hpp"
#include "place/failure_log.hpp"
#include "place/ticket_table.hpp"

namespace tailrace::impl {

struct Channel {
  std::span<std::byte> memory;            // the pool's bytes
  FreeStack<> returned;                   // server → client
  SpscRing<Descriptor> ring;              // client → server
  TicketTable<> tickets;                  // the client opens, the server ends
  WaitBell& client_bell;                  // the server rings
  FailureLog& failures;                   // the server adds, the client takes
  ServerCounters& counters;               // the server writes, the client reads
  std::span<VariableCounters> variables;  // by variable; likewise
};

}  // namespace tailrace::impl
