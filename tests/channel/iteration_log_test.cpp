// IterationLog: one record for each of the latest iterations; a reader never gets the numbers of two iterations as
// one's.
#include "channel/iteration_log.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <stop_token>
#include <thread>
#include <vector>

namespace tailrace::impl {
namespace {

using Outcome = IterationRecord::Outcome;

TEST(IterationLog, SaysWhatWasWritten) {
  IterationLog::Shared shared;
  IterationLog log(shared);
  EXPECT_TRUE(log.read().empty());
  EXPECT_EQ(log.latest(), nullptr);
  EXPECT_EQ(log.find(0), nullptr);
  IterationRecord& record = log.begin(7, Nanoseconds(1000));
  record.bytes_taken.add(5);
  record.bytes_stored.add(3);
  record.busy.add(100);
  record.outcome.set(static_cast<uint64_t>(Outcome::published));
  EXPECT_EQ(log.find(7), &record);
  EXPECT_EQ(log.find(8), nullptr);
  EXPECT_EQ(log.latest(), &record);
  const std::vector<IterationFigures> all = log.read();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].iteration, 7);
  EXPECT_EQ(all[0].begun, Nanoseconds(1000));
  EXPECT_EQ(all[0].ended, Nanoseconds(0));
  EXPECT_EQ(all[0].bytes_taken, 5u);
  EXPECT_EQ(all[0].bytes_stored, 3u);
  EXPECT_EQ(all[0].busy, Nanoseconds(100));
  EXPECT_EQ(all[0].outcome, Outcome::published);
}

TEST(IterationLog, KeepsTheLatest) {
  IterationLog::Shared shared;
  IterationLog log(shared);
  constexpr int64_t kAll = 3 * IterationLog::kKept + 5;
  for (int64_t iteration = 0; iteration < kAll; ++iteration) {
    IterationRecord& record = log.begin(iteration * 10, Nanoseconds(iteration + 1));
    EXPECT_EQ(record.bytes_taken.get(), 0u) << "nothing is left of the one before";
    record.bytes_taken.add(1);
  }
  const std::vector<IterationFigures> all = log.read();
  ASSERT_EQ(all.size(), IterationLog::kKept);
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].iteration, (kAll - static_cast<int64_t>(all.size() - i)) * 10);
  }
  EXPECT_EQ(log.find(0), nullptr);
  EXPECT_NE(log.find((kAll - 1) * 10), nullptr);
}

TEST(IterationLog, GoesOnForAServerThatDiedWhileItBeganOne) {
  IterationLog::Shared shared;
  IterationLog log(shared);
  log.begin(1, Nanoseconds(1));
  shared.records[1].version.store(1);  // … and no further
  EXPECT_EQ(log.read().size(), 1u);
  IterationLog next(shared);
  next.begin(2, Nanoseconds(2));
  const std::vector<IterationFigures> all = next.read();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[1].iteration, 2);
}

// A client may write anything there: then the figures are nonsense, but nothing worse happens.
TEST(IterationLog, BelievesNothing) {
  IterationLog::Shared shared;
  IterationLog log(shared);
  log.begin(1, Nanoseconds(1)).outcome.set(~uint64_t{0});
  shared.begun.set(~uint64_t{0} - 3);
  for (int64_t iteration = 2; iteration < 300; ++iteration) {
    log.begin(iteration, Nanoseconds(iteration));
    (void)log.find(iteration);
    (void)log.latest();
  }
  EXPECT_LE(log.read().size(), IterationLog::kKept);
}

TEST(IterationLog, AReaderGetsNumbersOfOneIteration) {
  const auto shared = std::make_unique<IterationLog::Shared>();
  IterationLog log(*shared);
  std::jthread server([&log](std::stop_token stop) {
    for (int64_t iteration = 1; !stop.stop_requested(); ++iteration) {
      IterationRecord& record = log.begin(iteration, Nanoseconds(iteration * 1000));
      const auto number = static_cast<uint64_t>(iteration);
      record.bytes_taken.set(number * 3);
      record.bytes_stored.set(number * 7);
      record.left.set(number * 1000 + 5);
    }
  });
  uint64_t seen = 0;
  while (seen == 0 || shared->begun.get() < 50 * IterationLog::kKept) {
    for (const IterationFigures& figures : log.read()) {
      const auto number = static_cast<uint64_t>(figures.iteration);
      ++seen;
      ASSERT_EQ(figures.begun, Nanoseconds(figures.iteration * 1000));
      ASSERT_TRUE(figures.bytes_taken == 0 || figures.bytes_taken == number * 3);
      ASSERT_TRUE(figures.bytes_stored == 0 || figures.bytes_stored == number * 7);
      ASSERT_TRUE(figures.left == Nanoseconds(0) || figures.left == figures.begun + Nanoseconds(5));
    }
  }
}

}  // namespace
}  // namespace tailrace::impl
