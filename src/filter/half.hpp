// float16: numbers rounded to IEEE 754's half precision (11 significant bits, up to 65504) and back, and what that
// lost.
//
// Rounds to nearest, ties to even, once, whatever type it starts from. What is too large becomes infinite; infinities
// and NaNs stay what they are. With the processor's own instructions (F16C) where it has them; both ways give the
// same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "model/config.hpp"

namespace tailrace::impl {

// The effect of rounding on the numbers. Errors are measured of finite numbers that stay finite; the others are
// counted.
struct Loss {
  double largest_error = 0;           // |rounded - original|
  double largest_relative_error = 0;  // the same / |original|; 1 for what became 0
  uint64_t overflowed = 0;            // finite numbers that became infinite

  void add(const Loss& other);
};

constexpr size_t kHalfBytes = 2;

enum class HalfBy { best, plain };  // plain: without F16C, for tests

// `from` holds elements of `type`, a floating one, at any address; `to` kHalfBytes for each.
Loss to_half(std::span<const std::byte> from, ElementType type, std::span<std::byte> to, HalfBy by = HalfBy::best);
// The way back, which loses nothing.
void from_half(std::span<const std::byte> from, ElementType type, std::span<std::byte> to);

// One number, in plain code.
uint16_t half_of(float value);
float float_of(uint16_t half);

}  // namespace tailrace::impl
