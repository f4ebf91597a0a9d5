// Several connections that move at once, by a team of threads. The preset tsan looks for what they share.
#include "transport/tcp/team.hpp"

#include <atomic>

#include "testing/seeds.hpp"
#include "transport_rig.hpp"

namespace tailrace::impl {
namespace {

TEST(Team, DoesEachTaskOnceAndReturnsAfterAll) {
  for (const size_t helpers : {0, 1, 3}) {
    Team team(helpers);
    for (size_t count = 0; count < 40; ++count) {
      std::vector<size_t> calls(count);  // without a lock: each task has one of its own
      team.run(count, [&](size_t number) { ++calls[number]; });
      EXPECT_EQ(calls, std::vector<size_t>(count, 1));
    }
  }
}

// Each task waits for the other: one thread would never end.
TEST(Team, DoesTasksAtTheSameTime) {
  Team team(1);
  std::atomic<int> there = 0;
  team.run(2, [&](size_t) {
    ++there;
    while (there < 2) std::this_thread::yield();
  });
  EXPECT_EQ(there, 2);
}

TEST(Team, EndsWithoutAnyTurn) { const Team team(3); }

TEST(TeamOfATransport, MovesTheBulkDataOfSeveralPeers) {
  for_seeds(2, [](uint64_t seed) {
    Dice dice(seed);
    TransportRig rig("tcp4");
    rig.listen();
    constexpr size_t kPeers = 6;
    std::vector<PeerId> peers;
    for (size_t i = 0; i < kPeers; ++i) {
      rig.connect();
      peers.push_back(rig.at_client);
    }
    std::map<uint64_t, Bytes> sent;
    for (uint64_t number = 1; number <= 60; ++number) {
      sent[number] = random_bytes(dice, dice.between(1, size_t{1} << dice.between(0, 21)));
      const iovec all{sent[number].data(), sent[number].size()};
      rig.client.transport->send(peers[number % kPeers], std::as_bytes(std::span(&number, 1)), {&all, 1}, number);
    }
    std::map<uint64_t, Bytes> into;
    ASSERT_TRUE(rig.run_until([&] {
      while (const std::optional<TransportEvent> message = rig.listener.take(Kind::message)) {
        uint64_t number = 0;
        std::memcpy(&number, message->head.data(), sizeof number);
        into[number].resize(message->bulk);
        rig.listener.transport->receive(message->peer, message->arrival, into[number], number);
      }
      return rig.listener.count(Kind::received) == sent.size() && rig.client.count(Kind::sent) == sent.size();
    }));
    EXPECT_TRUE(into == sent);
  });
}

}  // namespace
}  // namespace tailrace::impl
