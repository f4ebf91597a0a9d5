// The number of unfinished iterations of a client, as its server reports it.
#include "channel/iteration_table.hpp"

#include <gtest/gtest.h>

#include <memory>

namespace tailrace::impl {
namespace {

class IterationTableTest : public ::testing::Test {
 protected:
  std::unique_ptr<IterationTable<>::Shared> shared_ = std::make_unique<IterationTable<>::Shared>();
  IterationTable<> table_{*shared_};
};

TEST_F(IterationTableTest, CountsWhatHasBegunAndNotLeft) {
  table_.set_limit(2);
  EXPECT_TRUE(table_.has_room_for(0));
  table_.take(0);
  table_.take(7);
  EXPECT_EQ(table_.count(), 2u);
  EXPECT_FALSE(table_.has_room_for(8));
  table_.give_back(0);
  EXPECT_EQ(table_.count(), 1u);
  EXPECT_TRUE(table_.has_room_for(8));
}

// As a server does that replaces a dead one.
TEST_F(IterationTableTest, GivenBackTwiceIsGivenBackOnce) {
  table_.take(0);
  table_.give_back(0);
  table_.take(1);
  table_.give_back(0);
  table_.give_back(5);
  EXPECT_EQ(table_.count(), 1u);
}

// A late client must be able to end the iteration that the others wait for.
TEST_F(IterationTableTest, WhatOthersHaveBegunMayBeginBeyondTheLimit) {
  table_.set_limit(2);
  table_.begun_by_any(3);
  table_.begun_by_any(4);
  table_.begun_by_any(4);
  EXPECT_EQ(table_.count(), 2u);
  EXPECT_FALSE(table_.has_room_for(5));
  EXPECT_TRUE(table_.has_room_for(3));
  table_.take(3);
  EXPECT_EQ(table_.count(), 2u) << "it is one and the same";
  table_.left(4);
  EXPECT_EQ(table_.count(), 1u);
  table_.left(3);
  EXPECT_EQ(table_.count(), 1u) << "until the client hears that its own has left";
  table_.give_back(3);
  EXPECT_EQ(table_.count(), 0u);
}

TEST_F(IterationTableTest, WhatAnEarlierServerSaidIsForgotten) {
  table_.take(1);
  table_.begun_by_any(1);
  table_.begun_by_any(2);
  table_.forget_common();
  EXPECT_EQ(table_.count(), 1u);
}

// The client's side of the memory is under the client's control.
TEST_F(IterationTableTest, FullOrSenselessItHarmsNobody) {
  for (int64_t iteration = 0; iteration < 2 * IterationTable<>::kWords; ++iteration) {
    table_.take(iteration);
    table_.begun_by_any(iteration + 10000);
  }
  EXPECT_EQ(table_.count(), 2 * IterationTable<>::kWords);
  EXPECT_FALSE(table_.has_room_for(-1));
  for (int64_t iteration = 0; iteration < 2 * IterationTable<>::kWords; ++iteration) {
    table_.give_back(iteration);
    table_.left(iteration + 10000);
  }
  EXPECT_EQ(table_.count(), 0u);
  shared_->limit.store(0);
  EXPECT_EQ(table_.limit(), IterationTable<>::kMost);
  shared_->limit.store(1'000'000);
  EXPECT_EQ(table_.limit(), IterationTable<>::kMost);
}

}  // namespace
}  // namespace tailrace::impl
