// Histogram: buckets cover every time without gap or overlap, and percentiles agree with a sorted list.
#include "base/histogram.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

TEST(Histogram, BucketsFollowOneAnother) {
  for (uint32_t index = 0; index + 1 < Histogram::kBuckets; ++index) {
    const uint64_t last = Histogram::upper_end(index);
    EXPECT_EQ(Histogram::bucket(last), index);
    EXPECT_EQ(Histogram::bucket(last + 1), index + 1);
  }
}

TEST(Histogram, TheLastBucketTakesTheRest) {
  EXPECT_EQ(Histogram::bucket(UINT64_MAX), Histogram::kBuckets - 1);
  auto histogram = std::make_unique<Histogram>();
  histogram->add(UINT64_MAX / 2);
  EXPECT_EQ(histogram->percentile(0.5), UINT64_MAX / 2);
}

TEST(Histogram, ABucketIsAQuarterOfAnOctaveAtMost) {
  for (uint32_t index = Histogram::kQuarters; index + 1 < Histogram::kBuckets; ++index) {
    const uint64_t first = Histogram::upper_end(index - 1) + 1;
    EXPECT_LE(Histogram::upper_end(index) - first, first / 4) << index;
  }
}

TEST(Histogram, NothingAddedIsAllZero) {
  const auto histogram = std::make_unique<Histogram>();
  EXPECT_EQ(histogram->count(), 0u);
  EXPECT_EQ(histogram->sum(), 0u);
  EXPECT_EQ(histogram->most(), 0u);
  EXPECT_EQ(histogram->percentile(0.99), 0u);
}

TEST(Histogram, AgreesWithASortedList) {
  for_seeds(20, [](uint64_t seed) {
    std::mt19937_64 random(seed);
    auto histogram = std::make_unique<Histogram>();
    std::vector<uint64_t> times;
    uint64_t sum = 0;
    for (int i = 0; i < 1000; ++i) {
      times.push_back(random() >> (24 + random() % 40));
      histogram->add(times.back());
      sum += times.back();
    }
    std::sort(times.begin(), times.end());
    EXPECT_EQ(histogram->count(), times.size());
    EXPECT_EQ(histogram->sum(), sum);
    EXPECT_EQ(histogram->most(), times.back());
    for (const double share : {0.0, 0.5, 0.9, 0.99, 1.0}) {
      const size_t rank = std::min(times.size() - 1, static_cast<size_t>(share * static_cast<double>(times.size())));
      EXPECT_GE(histogram->percentile(share), times[rank]);
      EXPECT_LE(histogram->percentile(share), times[rank] + times[rank] / 4);
    }
  });
}

// Each addition to itself doubles all counts.
TEST(Histogram, ABucketThatIsFullStaysFull) {
  auto histogram = std::make_unique<Histogram>();
  histogram->add(1000);
  for (int doublings = 0; doublings < 31; ++doublings) histogram->add(*histogram);
  const uint32_t bucket = Histogram::bucket(1000);
  EXPECT_EQ(histogram->in_bucket(bucket), uint64_t{1} << 31);
  for (int doublings = 0; doublings < 3; ++doublings) histogram->add(*histogram);
  EXPECT_EQ(histogram->in_bucket(bucket), Histogram::kMostInBucket);
  histogram->add(1000);
  EXPECT_EQ(histogram->in_bucket(bucket), Histogram::kMostInBucket);
  EXPECT_EQ(histogram->percentile(0.99), 1000u);
}

}  // namespace
}  // namespace tailrace::impl
