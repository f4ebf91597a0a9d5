// Slots with a client in front of them: which requests wait until the server's slot, and which must not wait though
// the clock stands still.
#include "engine/schedule/slots.hpp"

#include <gtest/gtest.h>

#include <optional>
#include <utility>
#include <vector>

#include "testing/blocks.hpp"
#include "testing/node_rig.hpp"

namespace tailrace::impl {
namespace {

using std::chrono::milliseconds;

// Writes iterations 0 and 1, 100 ms apart: from then on the server knows its slot, 50 ms after an iteration begins.
// After another 100 ms a block of iteration 2 is handed over, and held.
class SlotsOfAServer : public testing::Test {
 protected:
  void begin(uint64_t pages = 16) {
    Config config = small_config(pages);
    config.storage.slots = true;
    node_.emplace(config, NodeRigOptions{.turns = true});
    for (int64_t iteration = 0; iteration < 2; ++iteration) {
      ASSERT_OK(client().write("a", iteration, page(1).data()));
      ASSERT_OK(client().end_iteration(iteration));
      node_->pass(milliseconds(50));
      EXPECT_TRUE(node_->published(iteration));
      node_->pass(milliseconds(50));
    }
    ASSERT_OK(client().write("a", 2, page(7).data()));
    EXPECT_EQ(held(), 1u);
  }
  Client& client() { return node_->client(); }
  // Returns how many of the handed-over blocks are held.
  uint64_t held() { return client().counters().blocks_accepted - node_->written(); }

  std::optional<NodeRig> node_;
};

TEST_F(SlotsOfAServer, WritesWaitForIt) {
  begin();
  ASSERT_OK(client().write("b", 2, page(8).data()));
  ASSERT_OK(client().end_iteration(2));
  EXPECT_EQ(node_->next_in(), milliseconds(50)) << "the server knows when to wake";
  node_->pass(milliseconds(50) - Nanoseconds(1));
  EXPECT_EQ(held(), 2u);
  EXPECT_FALSE(node_->published(2));
  node_->pass(Nanoseconds(1));
  EXPECT_EQ(held(), 0u);
  EXPECT_TRUE(node_->published(2));
  EXPECT_EQ(node_->next_in(), std::nullopt);
}

TEST_F(SlotsOfAServer, AFlushDoesNotWait) {
  begin();
  ASSERT_OK(client().end_iteration(2));
  ASSERT_OK(client().flush());
  EXPECT_EQ(held(), 0u);
  EXPECT_TRUE(node_->published(2));
}

TEST_F(SlotsOfAServer, CloseDoesNotWait) {
  begin();
  client().finish();
  EXPECT_EQ(held(), 0u);
}

TEST_F(SlotsOfAServer, AReadDoesNotWait) {
  begin();
  std::vector<std::byte> data(4096);
  ASSERT_OK(client().read("a", 2, data.data()));
  EXPECT_EQ(data, page(7));
}

TEST_F(SlotsOfAServer, ABlockWithATicketDoesNotWait) {
  begin();
  const std::vector<std::byte> own = page(8);
  const Result<uint64_t> ticket = client().borrow("b", 2, own.data());
  ASSERT_OK(ticket.status());
  ASSERT_OK(client().wait(ticket.value(), std::nullopt));
  EXPECT_EQ(held(), 1u) << "the other one does";
}

TEST_F(SlotsOfAServer, HalfOfTheBudgetDoesNotWait) {
  begin(3);
  ASSERT_OK(client().write("b", 2, page(8).data()));
  EXPECT_EQ(held(), 0u);
}

TEST_F(SlotsOfAServer, AClientThatNeedsMemoryDoesNotWait) {
  begin(4);
  for (const auto& [variable, iteration] : {std::pair("b", 2), {"a", 3}, {"b", 3}}) {
    ASSERT_OK(client().alloc(variable, iteration).status());
  }
  EXPECT_EQ(held(), 1u);
  ASSERT_OK(client().write("a", 4, page(1).data())) << "the pool was full";
  EXPECT_EQ(held(), 1u);
}

TEST_F(SlotsOfAServer, AnIterationGoesWhenTheNextButOneBegins) {
  begin();
  ASSERT_OK(client().write("a", 3, page(1).data()));
  EXPECT_EQ(held(), 2u);
  ASSERT_OK(client().write("a", 4, page(1).data()));
  EXPECT_EQ(held(), 2u);
}

TEST_F(SlotsOfAServer, AClientThatIsGoneWaitsForNothing) {
  begin();
  ASSERT_OK(client().end_iteration(2));
  node_->lose();
  EXPECT_TRUE(node_->gone());
  EXPECT_TRUE(node_->published(2));
}

TEST_F(SlotsOfAServer, ReadsAndTicketsOfAnotherIterationDoNotMoveTheSlots) {
  begin();
  std::vector<std::byte> data(4096);
  ASSERT_OK(client().read("a", 0, data.data()));
  EXPECT_EQ(held(), 0u) << "who reads opens the slot";
  node_->pass(milliseconds(100));
  ASSERT_OK(client().write("a", 3, page(1).data()));
  EXPECT_EQ(held(), 1u) << "the next has its own";
  EXPECT_EQ(node_->next_in(), milliseconds(50));
}

}  // namespace
}  // namespace tailrace::impl
