// How the server of a node sleeps over the rings of all its clients, under every interleaving: it misses no verb.
//
// The steps are those of place/node_rings.cpp and core/node_loop.cpp, with the event counter and the epoll set as in
// the kernel: an edge is remembered until it is waited for. A ring is represented by the number of its elements.
#include <gtest/gtest.h>

#include <array>
#include <memory>

#include "base/sync/sleep_flag.hpp"
#include "testing/interleave.hpp"

namespace tailrace::impl::testing {
namespace {

constexpr size_t kClients = 2;

// How the server goes to sleep; only the first is right.
enum class Order { as_written, announces_to_one, looks_before, retracts_before };

struct Node {
  struct Ring {
    InterleavedAtomic<int> sent{0};
    SleepFlag<InterleavedAtomic> server_asleep;
  };
  std::array<Ring, kClients> rings;
  InterleavedAtomic<int> edges{0};
};

InterleavedRun serving(Order order, int verbs) {
  auto node = std::make_shared<Node>();
  const auto server = [node, order, verbs] {
    std::array<int, kClients> taken{};
    const auto work = [&] {
      bool took = false;
      for (size_t client = 0; client < kClients; ++client) {
        const int sent = node->rings[client].sent.load(std::memory_order_acquire);
        took = took || sent > taken[client];
        taken[client] = sent;
      }
      return took;
    };
    const auto retract = [&] {
      for (Node::Ring& ring : node->rings) ring.server_asleep.retract();
    };
    while (taken[0] + taken[1] < verbs * static_cast<int>(kClients)) {
      if (work()) continue;
      for (Node::Ring& ring : node->rings) {
        ring.server_asleep.announce();
        if (order == Order::announces_to_one) break;
      }
      const bool worked = order != Order::looks_before && work();
      if (order == Order::retracts_before) retract();
      if (!worked) block_until([&] { return node->edges.load() > 0; });
      node->edges.exchange(0);
      if (order != Order::retracts_before) retract();
    }
  };
  InterleavedRun run{{server}, {}};
  for (size_t client = 0; client < kClients; ++client) {
    run.threads.push_back([node, client, verbs] {
      for (int verb = 0; verb < verbs; ++verb) {
        node->rings[client].sent.fetch_add(1, std::memory_order_release);
        if (node->rings[client].server_asleep.claim()) node->edges.fetch_add(1);
      }
    });
  }
  return run;
}

TEST(NodeSleep, OverhearsNoVerbOfTwoClients) {
  const auto result = explore([] { return serving(Order::as_written, 1); });
  EXPECT_TRUE(result.ok()) << result.report();
  EXPECT_TRUE(result.complete);
}

TEST(NodeSleep, OverhearsNoneOfTwoVerbsEach) {
  ExploreOptions options;
  options.deviations = 2;
  const auto result = explore([] { return serving(Order::as_written, 2); }, options);
  EXPECT_TRUE(result.ok()) << result.report();
  EXPECT_TRUE(result.complete);
}

TEST(NodeSleep, ToAnnounceToOneWouldOverhearTheOther) {
  const auto result = explore([] { return serving(Order::announces_to_one, 1); });
  EXPECT_TRUE(result.failure.starts_with("deadlock")) << result.report();
}

TEST(NodeSleep, ToLookBeforeTheAnnouncementWouldOverhearOne) {
  const auto result = explore([] { return serving(Order::looks_before, 1); });
  EXPECT_TRUE(result.failure.starts_with("deadlock")) << result.report();
}

TEST(NodeSleep, ToRetractBeforeTheSleepWouldOverhearOne) {
  const auto result = explore([] { return serving(Order::retracts_before, 1); });
  EXPECT_TRUE(result.failure.starts_with("deadlock")) << result.report();
}

}  // namespace
}  // namespace tailrace::impl::testing
