// TicketTable under every interleaving, together with its neighbours in a channel: the ring that carries the tickets
// to the server, and a bell that wakes the client. A client that sees a ticket's end sees the request's work.
#include "channel/ticket_table.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <vector>

#include "base/sync/sleep_flag.hpp"
#include "base/sync/spsc_ring.hpp"
#include "testing/interleave.hpp"

namespace tailrace::impl::testing {
namespace {

using Ring = SpscRing<Watched<uint64_t>, InterleavedAtomic>;

struct Channel {
  Channel(size_t slots, size_t requests) : words(slots), ring_slots(4), results(requests + 1) {}

  std::vector<InterleavedAtomic<uint64_t>> words;
  Ring::Counters counters;
  std::vector<Watched<uint64_t>> ring_slots;
  std::vector<Watched<int>> results;  // of each ticket: written by the server, read by the client
  InterleavedAtomic<int> rings{0};    // the word that a client sleeps on, as in WaitBell
  SleepFlag<InterleavedAtomic> asleep;
};

// As WaitBell::wait_until, with the futex as block_until.
template <class Ready>
void wait_until(Channel& channel, Ready ready) {
  for (;;) {
    const int seen = channel.rings.load(std::memory_order_acquire);
    channel.asleep.announce();
    if (ready()) {
      channel.asleep.retract();
      return;
    }
    block_until([&] { return channel.rings.load() != seen; });
  }
}

void ring_client(Channel& channel) {
  if (channel.asleep.claim()) channel.rings.fetch_add(1, std::memory_order_release);
}

// Ends `requests` tickets in the order they come; every second one fails.
void serve(Channel& channel, size_t requests) {
  TicketTable<InterleavedAtomic> tickets(channel.words);
  Ring ring(channel.counters, channel.ring_slots);
  for (size_t i = 0; i < requests; ++i) {
    block_until([&] { return !ring.empty(); });
    Watched<uint64_t> ticket;
    require(ring.pop(ticket), "the ring said that it is not empty");
    channel.results[ticket] = static_cast<int>(ticket);
    tickets.end(ticket, ticket % 2 == 1);
    ring_client(channel);
  }
}

// Opens `requests` tickets, at most as many at a time as there are slots, and waits for each.
void ask(Channel& channel, size_t requests) {
  TicketTable<InterleavedAtomic> tickets(channel.words);
  Ring ring(channel.counters, channel.ring_slots);
  uint64_t opened = 0;
  for (uint64_t waited = 1; waited <= requests; ++waited) {
    while (opened < requests && opened - waited + 1 < channel.words.size()) {
      const uint64_t ticket = tickets.open();
      require(ticket == ++opened, "a slot whose ticket has ended was not free");
      require(ring.push(ticket), "the ring is large enough");
    }
    wait_until(channel, [&] { return tickets.look(waited) != TicketState::pending; });
    const TicketState expected = waited % 2 == 1 ? TicketState::done : TicketState::failed;
    require(tickets.look(waited) == expected, "a wrong end");
    require(channel.results[waited] == static_cast<int>(waited), "the work of an ended request is not visible");
  }
}

void expect_all_served(size_t slots, size_t requests) {
  const auto result = explore([=]() -> InterleavedRun {
    auto channel = std::make_shared<Channel>(slots, requests);
    return {{[=] { ask(*channel, requests); }, [=] { serve(*channel, requests); }}, {}};
  });
  EXPECT_TRUE(result.ok()) << result.report();
  EXPECT_TRUE(result.complete);
}

TEST(TicketTable, OneSlotUsedAgain) { expect_all_served(1, 2); }
TEST(TicketTable, TwoSlotsUsedAgain) { expect_all_served(2, 3); }

TEST(TicketTable, ASlotThatIsPendingIsNotGivenOut) {
  std::vector<InterleavedAtomic<uint64_t>> words(1);
  TicketTable<InterleavedAtomic> tickets(words);
  EXPECT_EQ(tickets.open(), 1u);
  EXPECT_EQ(tickets.open(), 0u);
  EXPECT_EQ(tickets.look(1), TicketState::pending);
  tickets.end(1, false);
  EXPECT_EQ(tickets.look(1), TicketState::failed);
  EXPECT_EQ(tickets.open(), 2u);
  EXPECT_EQ(tickets.look(1), TicketState::done);  // its slot is in use; the failure log knows that it failed
}

}  // namespace
}  // namespace tailrace::impl::testing
