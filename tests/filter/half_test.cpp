// float16: every half, and every boundary between two of them, in plain code and by the processor; and the reported
// loss. half_numpy.py compares with NumPy.
#include "filter/half.hpp"

#include <gtest/gtest.h>

#include <bit>
#include <cfloat>
#include <cmath>
#include <limits>

#include "testing/seeds.hpp"

namespace tailrace::impl {
namespace {

constexpr uint16_t kLargest = 0x7bff;  // 65504

template <class Number>
std::vector<uint16_t> rounded(const std::vector<Number>& numbers, ElementType type, Loss* loss = nullptr,
                              HalfBy by = HalfBy::best) {
  std::vector<uint16_t> halves(numbers.size());
  const Loss found = to_half(std::as_bytes(std::span(numbers)), type, std::as_writable_bytes(std::span(halves)), by);
  if (loss != nullptr) *loss = found;
  return halves;
}

template <class Number>
uint16_t rounded_one(Number number, ElementType type) {
  return rounded(std::vector<Number>{number}, type)[0];
}

TEST(Half, EveryHalfComesBack) {
  for (uint32_t half = 0; half <= 0xffff; ++half) {
    const float value = float_of(static_cast<uint16_t>(half));
    const uint16_t back = half_of(value);
    if (std::isnan(value)) {
      EXPECT_TRUE((back & 0x7c00) == 0x7c00 && (back & 0x3ff) != 0) << half;
    } else {
      EXPECT_EQ(back, half);
    }
  }
}

// Between each half and the next one: just below the middle, the middle, and just above it.
template <class Number>
void check_borders(ElementType type) {
  for (uint16_t half = 0; half < kLargest; ++half) {
    const auto low = static_cast<Number>(float_of(half));
    const auto high = static_cast<Number>(float_of(static_cast<uint16_t>(half + 1)));
    const Number middle = (low + high) / 2;
    const auto even = static_cast<uint16_t>(half + (half & 1));
    ASSERT_EQ(rounded_one(std::nextafter(middle, low), type), half);
    ASSERT_EQ(rounded_one(middle, type), even);
    ASSERT_EQ(rounded_one(std::nextafter(middle, high), type), half + 1);
    ASSERT_EQ(rounded_one(-middle, type), even | 0x8000);
  }
  const auto border = static_cast<Number>(65520);  // the middle of 65504 and what 65536 would be
  EXPECT_EQ(rounded_one(std::nextafter(border, Number{0}), type), kLargest);
  EXPECT_EQ(rounded_one(border, type), 0x7c00);
  EXPECT_EQ(rounded_one(-std::numeric_limits<Number>::max(), type), 0xfc00);
  EXPECT_EQ(rounded_one(std::numeric_limits<Number>::infinity(), type), 0x7c00);
  EXPECT_EQ(rounded_one(std::numeric_limits<Number>::denorm_min(), type), 0);
  EXPECT_EQ(rounded_one(-std::numeric_limits<Number>::denorm_min(), type), 0x8000);
  const uint16_t nan = rounded_one(std::numeric_limits<Number>::quiet_NaN(), type);
  EXPECT_TRUE((nan & 0x7c00) == 0x7c00 && (nan & 0x3ff) != 0);
}

TEST(Half, FloatIsRoundedOnce) { check_borders<float>(ElementType::float32); }
TEST(Half, DoubleIsRoundedOnce) { check_borders<double>(ElementType::float64); }
TEST(Half, LongDoubleIsRoundedOnce) { check_borders<long double>(ElementType::long_double); }

TEST(Half, PlainCodeAndTheProcessorAgree) {
  for_seeds(20, [](uint64_t seed) {
    Dice dice(seed);
    std::vector<float> numbers(dice.between(1, 5000));
    for (float& number : numbers) number = std::bit_cast<float>(static_cast<uint32_t>(dice.below(uint64_t{1} << 32)));
    Loss best;
    Loss plain;
    EXPECT_EQ(rounded(numbers, ElementType::float32, &best),
              rounded(numbers, ElementType::float32, &plain, HalfBy::plain));
    EXPECT_EQ(best.largest_error, plain.largest_error);
    EXPECT_EQ(best.largest_relative_error, plain.largest_relative_error);
    EXPECT_EQ(best.overflowed, plain.overflowed);
  });
}

// Mostly of ordinary size, so that most of them lose no more than earlier ones.
template <class Number>
void compare_losses(ElementType type) {
  for_seeds(50, [type](uint64_t seed) {
    Dice dice(seed);
    std::vector<Number> numbers(dice.between(1, 20'000));
    for (Number& number : numbers) {
      number = static_cast<Number>(dice.below(1 << 24)) * static_cast<Number>(dice.chance(50) ? 1e-6 : -1e-6);
      const Number rare[] = {std::numeric_limits<Number>::infinity(), std::numeric_limits<Number>::quiet_NaN(),
                             static_cast<Number>(1e6), std::numeric_limits<Number>::denorm_min(), Number{0}};
      if (dice.below(10'000) == 0) number = rare[dice.below(5)];
    }
    Loss best;
    Loss plain;
    EXPECT_EQ(rounded(numbers, type, &best), rounded(numbers, type, &plain, HalfBy::plain));
    EXPECT_EQ(best.largest_error, plain.largest_error);
    EXPECT_EQ(best.largest_relative_error, plain.largest_relative_error);
    EXPECT_EQ(best.overflowed, plain.overflowed);
  });
}

TEST(Half, LossesOfManyFloatsAreFoundByTheProcessorToo) { compare_losses<float>(ElementType::float32); }
TEST(Half, LossesOfManyDoublesAreFoundByTheProcessorToo) { compare_losses<double>(ElementType::float64); }

TEST(Half, ToldWhatWasLost) {
  Loss loss;
  const float infinity = std::numeric_limits<float>::infinity();
  const float nan = std::numeric_limits<float>::quiet_NaN();
  rounded<float>({0, 1, -2, 65504, infinity, nan, 0x1p-24f}, ElementType::float32, &loss);
  EXPECT_EQ(loss.largest_error, 0);
  EXPECT_EQ(loss.largest_relative_error, 0);
  EXPECT_EQ(loss.overflowed, 0u);
  rounded<float>({1, 1e5f, -1e38f, nan, infinity, 2049}, ElementType::float32, &loss);
  EXPECT_EQ(loss.overflowed, 2u);
  EXPECT_EQ(loss.largest_error, 1) << "2049 became 2048";
  EXPECT_EQ(loss.largest_relative_error, 1.0 / 2049);
  rounded<double>({1e-300, 3}, ElementType::float64, &loss);
  EXPECT_EQ(loss.largest_relative_error, 1) << "lost whole";
  rounded<long double>({LDBL_MAX, 0.1L}, ElementType::long_double, &loss);
  EXPECT_EQ(loss.overflowed, 1u);
  EXPECT_NEAR(loss.largest_error, 0.1 - static_cast<double>(float_of(half_of(0.1f))), 1e-9);
}

TEST(Half, LossesAdd) {
  Loss loss{1, 0.5, 2};
  loss.add({0.5, 0.75, 3});
  EXPECT_EQ(loss.largest_error, 1);
  EXPECT_EQ(loss.largest_relative_error, 0.75);
  EXPECT_EQ(loss.overflowed, 5u);
}

TEST(Half, TheWayBackLosesNothing) {
  std::vector<uint16_t> halves(3000);
  for (size_t i = 0; i < halves.size(); ++i) halves[i] = static_cast<uint16_t>(i * 10);
  std::vector<double> numbers(halves.size());
  from_half(std::as_bytes(std::span(halves)), ElementType::float64, std::as_writable_bytes(std::span(numbers)));
  for (size_t i = 0; i < halves.size(); ++i) EXPECT_EQ(numbers[i], static_cast<double>(float_of(halves[i])));
}

}  // namespace
}  // namespace tailrace::impl
