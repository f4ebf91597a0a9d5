// Corner cases of statistics_of. (statistics_numpy.py compares with NumPy.)
#include "action/statistics.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace tailrace::impl {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

template <class T>
Statistics of(const std::vector<T>& values, ElementType type) {
  return statistics_of(std::as_bytes(std::span(values)), type);
}

uint64_t in_bins(const Statistics& found) {
  return std::accumulate(found.histogram.begin(), found.histogram.end(), uint64_t{0});
}

TEST(Statistics, OfOneToSixtyFour) {
  std::vector<int16_t> values(64);
  std::iota(values.begin(), values.end(), int16_t{-31});
  const Statistics found = of(values, ElementType::int16);
  EXPECT_EQ(found.least, -31);
  EXPECT_EQ(found.most, 32);
  EXPECT_EQ(found.mean, 0.5);
  EXPECT_EQ(found.finite, 64u);
  for (const uint64_t bin : found.histogram) EXPECT_EQ(bin, 1u);
}

TEST(Statistics, WhatIsNotFiniteIsCountedApart) {
  const Statistics found = of<double>({1, nan, inf, 3, -inf, nan, nan}, ElementType::float64);
  EXPECT_EQ(found.finite, 2u);
  EXPECT_EQ(found.nan, 3u);
  EXPECT_EQ(found.infinite, 2u);
  EXPECT_EQ(found.least, 1);
  EXPECT_EQ(found.mean, 2);
  EXPECT_EQ(found.most, 3);
  EXPECT_EQ(in_bins(found), 2u);
}

TEST(Statistics, OfNothing) {
  for (const std::vector<double>& values : {std::vector<double>{}, std::vector<double>{nan, inf}}) {
    const Statistics found = of(values, ElementType::float64);
    EXPECT_EQ(found.finite, 0u);
    EXPECT_TRUE(std::isnan(found.least));
    EXPECT_TRUE(std::isnan(found.mean));
    EXPECT_TRUE(std::isnan(found.most));
    EXPECT_EQ(in_bins(found), 0u);
  }
}

TEST(Statistics, OfOneValueAllOver) {
  const Statistics found = of<float>({7, 7, 7}, ElementType::float32);
  EXPECT_EQ(found.mean, 7);
  EXPECT_EQ(found.histogram[kHistogramBins / 2], 3u);
}

// Ranges that a double cannot represent, or can hardly divide: every value is in some bin.
TEST(Statistics, OfExtremes) {
  constexpr double most = std::numeric_limits<double>::max();
  constexpr double least = std::numeric_limits<double>::denorm_min();
  for (const std::vector<double>& values :
       {std::vector<double>{-most, 0, most}, {0, least, 2 * least}, {1e300, 1e300}, {1, 1 + 2e-16, 1}}) {
    const Statistics found = of(values, ElementType::float64);
    EXPECT_EQ(in_bins(found), values.size()) << values[0];
    EXPECT_TRUE(std::isfinite(found.mean)) << values[0];
  }
  const Statistics wide = of<double>({-most, 0, most}, ElementType::float64);
  EXPECT_EQ(wide.histogram.front(), 1u);
  EXPECT_EQ(wide.histogram[kHistogramBins / 2], 1u);
  EXPECT_EQ(wide.histogram.back(), 1u);
}

}  // namespace
}  // namespace tailrace::impl
