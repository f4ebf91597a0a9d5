// EndedNumbers against a plain set: regular programs in either direction, irregular ones, and a million numbers.
#include "base/ended_numbers.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <vector>

namespace tailrace::impl {
namespace {

void expect_same(const std::vector<int64_t>& numbers) {
  EndedNumbers ended;
  std::set<int64_t> model;
  for (const int64_t number : numbers) {
    ended.add(number);
    model.insert(number);
  }
  const int64_t last = model.empty() ? 0 : *model.rbegin();
  for (int64_t number = 0; number <= last + 20; ++number) {
    ASSERT_EQ(ended.contains(number), model.contains(number)) << number;
  }
}

TEST(EndedNumbers, KnowsRegularPrograms) {
  expect_same({});
  expect_same({7});
  expect_same({0, 1, 2, 3, 4});
  expect_same({0, 10, 20, 30});
  expect_same({30, 20, 10, 0});
  expect_same({5, 5, 5});
  expect_same({0, 10, 15, 20, 21, 22, 24});
}

TEST(EndedNumbers, KnowsIrregularPrograms) {
  std::mt19937_64 random(20261121);
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> numbers;
    for (int i = 0; i < 60; ++i) numbers.push_back(static_cast<int64_t>(random() % 100));
    expect_same(numbers);
  }
}

TEST(EndedNumbers, NeverForgetsARegularProgram) {
  EndedNumbers ended;
  for (int64_t number = 0; number < 3'000'000; number += 3) ended.add(number);
  EXPECT_TRUE(ended.contains(0));
  EXPECT_TRUE(ended.contains(2'999'997));
  EXPECT_FALSE(ended.contains(1));
  EXPECT_FALSE(ended.contains(3'000'000));
}

// Triangular numbers make a run of each two.
TEST(EndedNumbers, ForgetsTheOldestOfTooManyRuns) {
  EndedNumbers ended;
  std::vector<int64_t> numbers;
  for (size_t i = 0; i < 2 * (EndedNumbers::kMaxRuns + 1); ++i) {
    numbers.push_back((numbers.empty() ? 0 : numbers.back()) + static_cast<int64_t>(i));
    ended.add(numbers.back());
  }
  EXPECT_FALSE(ended.contains(numbers[0]));
  for (size_t i = 4; i < numbers.size(); ++i) ASSERT_TRUE(ended.contains(numbers[i])) << i;
}

}  // namespace
}  // namespace tailrace::impl
