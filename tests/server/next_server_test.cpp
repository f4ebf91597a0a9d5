// The next server continues after one that dies between two lines of its ledger.
#include <gtest/gtest.h>

#include <algorithm>
#include <span>
#include <vector>

#include "testing/blocks.hpp"
#include "testing/node_rig.hpp"

namespace tailrace::impl {
namespace {

// Sends verbs that no client sends. The server does not look at them before serve().
void send(NodeRig& node, std::span<Descriptor> verbs) {
  uint64_t sequence = node.channel().ring.taken();
  for (Descriptor& verb : verbs) {
    verb.sequence = ++sequence;
    ASSERT_TRUE(node.channel().ring.push(verb));
  }
}

// Found by the simulator (core, seed 3182031213): the next server took up records of an iteration without a file, and
// reported that it could not continue them.
TEST(NextServer, WhatWentWithADroppedIterationIsNotToldAgain) {
  Config config = small_config(1);
  config.memory.when_full = WhenFull::drop;
  NodeRig node(config, {.last_line = LedgerRecord::Kind::unpublished});
  Client& client = node.client();
  ASSERT_TRUE(client.alloc("a", 1).ok()) << "all of the budget";
  ASSERT_OK(client.signal("refined", 0));
  EXPECT_EQ(client.write("b", 0, page(1).data()).code(), TAILRACE_DROPPED);
  ASSERT_OK(client.flush());
  ASSERT_FALSE(node.ledger().empty());
  ASSERT_EQ(node.ledger().back().kind, LedgerRecord::Kind::unpublished);
  node.change_servers();
  ASSERT_OK(client.flush());
  const std::optional<Status> told = client.earlier();
  EXPECT_FALSE(told) << said(*told);
}

// The ledger keeps 256 flushes and their like, and then strikes out those that have ended.
TEST(NextServer, OneFlushMoreThanTheLedgerKeepsStrikesOutTheOthers) {
  NodeRig node(small_config(8));
  const auto flushes = [&node] {
    return std::count_if(node.ledger().begin(), node.ledger().end(), [](const LedgerRecord& of) {
      return of.kind == LedgerRecord::Kind::accepted && is_flush(of.descriptor.verb);
    });
  };
  for (int i = 0; i < 5000; ++i) {
    ASSERT_OK(node.client().flush());
    ASSERT_LE(flushes(), 2 * 1024 + 256) << "also those that are struck out and not yet removed";
  }
  node.change_servers();
  ASSERT_OK(node.client().flush());
  EXPECT_LE(flushes(), 256);
  ASSERT_OK(node.client().write("a", 3, page(1).data()));
  ASSERT_OK(node.client().end_iteration(3));
  ASSERT_OK(node.client().flush());
}

// Each unfinished iteration has a file open, so that such a client used up the descriptors of all.
TEST(ServedClients, AClientThatBeginsAndEndsMoreThanItMayIsNotBelieved) {
  for (const bool one_more : {false, true}) {
    NodeRig node(small_config(8));
    ASSERT_OK(node.client().flush());
    const uint32_t most = node.channel().unfinished.limit();
    std::vector<Descriptor> verbs(2 * (most + (one_more ? 1 : 0)));
    for (size_t i = 0; i < verbs.size(); ++i) {
      verbs[i].verb = i % 2 == 0 ? Verb::signal : Verb::end_iteration;
      if (i % 2 == 0) verbs[i].event[0] = 'x';
      verbs[i].iteration = static_cast<int64_t>(i / 2);
    }
    send(node, verbs);
    EXPECT_EQ(node.serve().code(), one_more ? TAILRACE_INVALID_ARGUMENT : TAILRACE_OK);
  }
}

// A dropped iteration has no file. It goes before the client has seen that there is room again.
TEST(ServedClients, AClientMayDropAsManyIterationsAsItLikes) {
  NodeRig node(small_config(8));
  std::vector<Descriptor> verbs(1000);
  for (size_t i = 0; i < verbs.size(); ++i) {
    verbs[i].verb = Verb::drop_iteration;
    verbs[i].iteration = static_cast<int64_t>(i);
  }
  send(node, verbs);
  ASSERT_OK(node.serve());
}

}  // namespace
}  // namespace tailrace::impl
