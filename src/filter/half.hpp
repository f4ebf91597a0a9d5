// float16: rounds numbers to IEEE 754's half precision (11 significant bits, up to 65504) and back, and measures the
// loss.
//
// It rounds to nearest, ties to even, only once, from every type. Numbers that are too large become infinite;
// infinities and NaNs are preserved. It uses the processor's instructions (F16C) if there are any; plain code gives
// the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/variable.hpp"

namespace tailrace::impl {

// The effect of rounding. Errors are measured for finite numbers that stay finite; the others are counted.
struct Loss {
  double largest_error = 0;           // |rounded - original|
  double largest_relative_error = 0;  // the same / |original|; 1 for numbers that became 0
  uint64_t overflowed = 0;            // finite numbers that became infinite

  void add(const Loss& other);
};

constexpr size_t kHalfBytes = 2;

enum class HalfBy { best, plain };  // plain: without F16C, for tests

// `from` holds elements of `type`, a floating-point type, at any address; `to` has kHalfBytes for each.
Loss to_half(std::span<const std::byte> from, ElementType type, std::span<std::byte> to, HalfBy by = HalfBy::best);
// Converts back, without loss.
void from_half(std::span<const std::byte> from, ElementType type, std::span<std::byte> to);

// Convert one number, in plain code.
uint16_t half_of(float value);
float float_of(uint16_t half);

}  // namespace tailrace::impl
