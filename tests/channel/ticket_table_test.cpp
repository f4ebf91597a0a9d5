// TicketTable: reused slots, and a full table. tests/interleave has the threads.
#include "channel/ticket_table.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <deque>
#include <vector>

#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

TEST(TicketTable, NumbersCountUpFromOne) {
  std::vector<std::atomic<uint64_t>> words(4);
  TicketTable<> tickets(words);
  EXPECT_FALSE(tickets.known(0));
  EXPECT_FALSE(tickets.known(1));
  for (uint64_t ticket = 1; ticket <= 4; ++ticket) EXPECT_EQ(tickets.open(), ticket);
  EXPECT_EQ(tickets.open(), 0u) << "all slots are pending";
  tickets.end(2, true);
  EXPECT_EQ(tickets.open(), 0u) << "the next one's slot is still pending";
  tickets.end(1, false);
  EXPECT_EQ(tickets.look(1), TicketState::failed);
  EXPECT_EQ(tickets.open(), 5u);
  EXPECT_EQ(tickets.look(1), TicketState::done);
  EXPECT_EQ(tickets.look(5), TicketState::pending);
  EXPECT_TRUE(tickets.known(5));
  EXPECT_FALSE(tickets.known(6));
}

TEST(TicketTable, WrapsManyTimes) {
  for_seeds(20, [](uint64_t seed) {
    Dice dice(seed);
    const size_t size = dice.between(1, 9);
    std::vector<std::atomic<uint64_t>> words(size);
    TicketTable<> tickets(words);
    std::deque<uint64_t> pending;
    std::vector<bool> failed(1, false);
    for (int step = 0; step < 2000; ++step) {
      if (dice.chance(60)) {
        const uint64_t last = failed.size() - 1;
        const uint64_t ticket = tickets.open();
        const bool taken = std::find_if(pending.begin(), pending.end(), [&](uint64_t other) {
                             return other % size == (last + 1) % size;
                           }) != pending.end();
        EXPECT_EQ(ticket, taken ? 0 : last + 1);
        if (ticket == 0) continue;
        pending.push_back(ticket);
        failed.push_back(false);
      } else if (!pending.empty()) {
        const size_t which = dice.below(pending.size());
        const uint64_t ticket = pending[which];
        failed[ticket] = dice.chance(30);
        tickets.end(ticket, !failed[ticket]);
        pending.erase(pending.begin() + static_cast<ptrdiff_t>(which));
        EXPECT_EQ(tickets.look(ticket), failed[ticket] ? TicketState::failed : TicketState::done);
      }
      for (const uint64_t ticket : pending) EXPECT_EQ(tickets.look(ticket), TicketState::pending);
    }
  });
}

TEST(TicketTable, ATicketEndsOnce) {
  std::vector<std::atomic<uint64_t>> words(2);
  TicketTable<> tickets(words);
  const uint64_t first = tickets.open();
  tickets.end(first, false);
  tickets.end(first, true);
  EXPECT_EQ(tickets.look(first), TicketState::failed);
  tickets.open();
  const uint64_t third = tickets.open();  // in the slot of the first
  tickets.end(first, true);
  EXPECT_EQ(tickets.look(third), TicketState::pending);
}

}  // namespace
}  // namespace tailrace::impl
