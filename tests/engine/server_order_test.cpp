// ServerOrder: forwarders spread over the servers as evenly as they can, at each turn and over all turns.
#include "engine/schedule/server_order.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

namespace tailrace::impl {
namespace {

std::vector<uint32_t> round_of(uint32_t forwarder, uint32_t servers) {
  const ServerOrder order(forwarder, servers);
  std::vector<uint32_t> visits;
  for (uint32_t turn = 0; turn < servers; ++turn) visits.push_back(order.at(turn));
  return visits;
}

using Visits = std::vector<uint32_t>;

TEST(ServerOrder, TheFirstForwardersAreRowsOfALatinSquare) {
  EXPECT_EQ(round_of(0, 4), (Visits{0, 1, 2, 3}));
  EXPECT_EQ(round_of(1, 4), (Visits{1, 2, 3, 0}));
  EXPECT_EQ(round_of(2, 4), (Visits{2, 3, 0, 1}));
  EXPECT_EQ(round_of(3, 4), (Visits{3, 0, 1, 2}));
}

TEST(ServerOrder, FurtherForwardersTakeOtherSteps) {
  EXPECT_EQ(round_of(4, 4), (Visits{0, 3, 2, 1})) << "1 and 3 are coprime to 4";
  EXPECT_EQ(round_of(7, 4), (Visits{3, 2, 1, 0}));
  EXPECT_EQ(round_of(8, 4), (Visits{0, 1, 2, 3})) << "and then all begins again";
  EXPECT_EQ(round_of(5, 5), (Visits{0, 2, 4, 1, 3}));
  EXPECT_EQ(round_of(3, 1), Visits{0});
}

TEST(ServerOrder, EveryRoundVisitsEachServerOnce) {
  for (uint32_t servers = 1; servers <= 24; ++servers) {
    for (uint32_t forwarder = 0; forwarder < 3 * servers; ++forwarder) {
      const Visits visits = round_of(forwarder, servers);
      const std::set<uint32_t> all(visits.begin(), visits.end());
      ASSERT_EQ(all.size(), servers) << "forwarder " << forwarder;
      ASSERT_EQ(*all.rbegin(), servers - 1);
    }
  }
}

TEST(ServerOrder, NoServerHasMoreForwardersThanItMust) {
  for (uint32_t servers = 1; servers <= 12; ++servers) {
    for (uint32_t forwarders = 1; forwarders <= 4 * servers; ++forwarders) {
      const uint32_t least = (forwarders + servers - 1) / servers;
      for (int64_t turn = -5; turn <= 2 * int64_t{servers}; ++turn) {
        std::vector<uint32_t> crowd(servers);
        for (uint32_t forwarder = 0; forwarder < forwarders; ++forwarder) {
          ++crowd[ServerOrder(forwarder, servers).at(turn)];
        }
        ASSERT_EQ(*std::max_element(crowd.begin(), crowd.end()), least)
            << forwarders << " forwarders, " << servers << " servers, turn " << turn;
      }
    }
  }
}

TEST(ServerOrder, TurnsBeforeTheFirstContinueTheRound) {
  const ServerOrder order(1, 3);
  EXPECT_EQ(order.at(-1), order.at(2));
  EXPECT_EQ(order.at(-3), order.at(0));
  EXPECT_EQ(order.at(3'000'000'000'001), order.at(1));
}

}  // namespace
}  // namespace tailrace::impl
