// The disk, the link and the data server of the forwarding study, against cases computed by hand.
#include <gtest/gtest.h>

#include "lab/inside/forward_study/data_server.hpp"

namespace tailrace::impl::study {
namespace {

using namespace std::chrono_literals;

// A byte takes 10 ns, a seek over a quarter of the disk 9 ms.
DiskParameters simple_disk() {
  DiskParameters disk;
  disk.half_turn = 4ms;
  disk.settle = 1ms;
  disk.full_stroke = 17ms;
  disk.capacity = 400'000'000;
  disk.rate = 100e6;
  disk.overhead = 100us;
  return disk;
}

TEST(DiskModelTest, GoesOnWhereItEndedWithoutPositioning) {
  DiskModel disk(simple_disk());
  EXPECT_EQ(disk.serve(0, 1'000'000), 10ms + 100us);
  EXPECT_EQ(disk.serve(1'000'000, 500'000), 5ms + 100us);
  EXPECT_EQ(disk.head(), 1'500'000U);
  EXPECT_EQ(disk.counts().seeks, 0U);
  EXPECT_EQ(disk.counts().positioning, 0ms);
  EXPECT_EQ(disk.counts().busy, 15ms + 200us);
}

TEST(DiskModelTest, SeeksByTheRootOfTheDistanceAndWaitsForHalfATurn) {
  DiskModel disk(simple_disk());
  EXPECT_EQ(disk.serve(100'000'000, 100), 9ms + 4ms + 100us + 1us);
  EXPECT_EQ(disk.serve(0, 100) - 101us, disk.seek(100'000'100) + 4ms);
  EXPECT_EQ(disk.counts().seeks, 2U);
  EXPECT_EQ(disk.seek(400'000'000), 17ms);
}

TEST(DiskModelTest, WaitsForAGapToPassIfThatIsSooner) {
  DiskModel disk(simple_disk());
  EXPECT_EQ(disk.serve(100'000, 100), 1ms + 100us + 1us);
  EXPECT_EQ(disk.counts().passed, 1U);
  EXPECT_EQ(disk.counts().seeks, 0U);
  // 10 ms, and a seek over a 400th of the disk: 1 ms + 16 ms / 20.
  EXPECT_EQ(disk.serve(1'100'100, 100), 1ms + 800us + 4ms + 100us + 1us);
  EXPECT_EQ(disk.counts().seeks, 1U);
}

TEST(DiskModelTest, WaitsForNoGapBackwardsOrIfItMustNot) {
  DiskParameters parameters = simple_disk();
  DiskModel backwards(parameters);
  backwards.serve(0, 100'000);
  EXPECT_GE(backwards.serve(0, 100), 5ms);
  parameters.passes_gaps = false;
  DiskModel forwards(parameters);
  EXPECT_GE(forwards.serve(100, 100), 5ms);
}

TEST(NetworkLinkTest, LetsMessagesPassOneAfterTheOther) {
  NetworkParameters parameters;
  parameters.latency = 30us;
  parameters.bandwidth = 1e9;
  parameters.header = 1000;
  NetworkLink link(parameters);
  EXPECT_EQ(link.pass(0us, 9000), 10us + 30us);
  EXPECT_EQ(link.pass(5us, 0), 11us + 30us);
  EXPECT_EQ(link.pass(100us, 0), 101us + 30us);
}

class DataServerTest : public ::testing::Test {
 protected:
  // Returns the positions of requests, sent together, in the order in which they end.
  std::vector<uint64_t> order_of(uint32_t reorder, const std::vector<uint64_t>& positions) {
    Parameters parameters;
    parameters.disk = simple_disk();
    parameters.servers.reorder = reorder;
    EventQueue events;
    DataServer server(events, parameters);
    std::vector<uint64_t> order;
    for (const uint64_t position : positions) {
      server.send({false, position, 100, [&order, position] { order.push_back(position); }});
    }
    while (events.run_one()) {
    }
    EXPECT_EQ(server.take_peak(), positions.size());
    EXPECT_EQ(server.take_peak(), 0U);
    return order;
  }
};

TEST_F(DataServerTest, TakesRequestsAsTheyCame) {
  const std::vector<uint64_t> positions{5000, 9000, 1000, 3000, 7000};
  EXPECT_EQ(order_of(1, positions), positions);
}

// The first request comes alone, so the disk has begun it.
TEST_F(DataServerTest, GoesUpwardsLikeAnElevator) {
  EXPECT_EQ(order_of(100, {5000, 9000, 1000, 3000, 7000}), (std::vector<uint64_t>{5000, 7000, 9000, 1000, 3000}));
  EXPECT_EQ(order_of(2, {5000, 9000, 1000, 3000, 7000}), (std::vector<uint64_t>{5000, 9000, 1000, 3000, 7000}));
  EXPECT_EQ(order_of(3, {5000, 9000, 1000, 7000}), (std::vector<uint64_t>{5000, 7000, 9000, 1000}));
}

TEST_F(DataServerTest, AnswersWhenDiskAndNetworkHaveDoneTheirParts) {
  Parameters parameters;
  parameters.disk = simple_disk();
  parameters.network.latency = 30us;
  parameters.network.bandwidth = 1e9;
  parameters.network.header = 1000;
  EventQueue events;
  DataServer server(events, parameters);
  Nanoseconds read{0};
  server.send({false, 0, 100'000, [&] { read = events.now(); }});
  while (events.run_one()) {
  }
  EXPECT_EQ(read, (1us + 30us) + (1ms + 100us) + (101us + 30us));
}

}  // namespace
}  // namespace tailrace::impl::study
