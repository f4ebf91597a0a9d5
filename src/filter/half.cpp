#include "filter/half.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "base/assert.hpp"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace tailrace::impl {
namespace {

constexpr uint32_t kFloatInfinity = 0x7f800000;
constexpr uint32_t kHalfInfinity = 0x7c00;
constexpr uint32_t kQuiet = 0x0200;  // quiet bit of a NaN

// Numbers rounded at a time: first all to half, then back, to measure the loss.
constexpr size_t kTile = 512;

// Converts `value` to float, rounding to odd: the last bit is set if any bits were cut off. Rounding the result
// again, to far fewer bits, equals rounding `value` once.
template <class Number>
float float_to_odd(Number value) {
  const auto nearest = static_cast<float>(value);
  const auto back = static_cast<Number>(nearest);
  uint32_t bits = std::bit_cast<uint32_t>(nearest);
  if (back == value || std::isnan(value) || (bits & 1) != 0) return nearest;
  // Moves one unit towards `value`, which is not zero. Without the sign, floats are in the order of their bits.
  bits += std::fabs(back) < std::fabs(value) ? 1u : ~0u;
  return std::bit_cast<float>(bits);
}

// Converts a float without sign that is below 2^-14, given by its bits, to units of 2^-24.
uint32_t subnormal_half(uint32_t bits) {
  const uint32_t shift = 126 - (bits >> 23);  // from the float's unit to half's; at least 14
  if (shift > 25) return 0;                   // below half a unit
  const uint32_t fraction = (bits & 0x7fffff) | 0x800000;
  const uint32_t units = fraction >> shift;
  const uint32_t rest = fraction & ((1u << shift) - 1);
  const uint32_t tie = 1u << (shift - 1);
  return units + (rest > tie || (rest == tie && (units & 1) != 0) ? 1 : 0);
}

void halves_plain(const float* from, size_t count, uint16_t* to) {
  for (size_t i = 0; i < count; ++i) to[i] = half_of(from[i]);
}

void floats_plain(const uint16_t* from, size_t count, float* to) {
  for (size_t i = 0; i < count; ++i) to[i] = float_of(from[i]);
}

#if defined(__x86_64__)
constexpr size_t kLane = 8;

bool detect_f16c() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  // __builtin_cpu_supports checks AVX as the compiler's run time sees it: the operating system saves its registers.
  return __builtin_cpu_supports("avx") && __get_cpuid(1, &a, &b, &c, &d) != 0 && (c & bit_F16C) != 0;
}

const bool kHasF16c = detect_f16c();

__attribute__((target("avx,f16c"))) void halves_f16c(const float* from, size_t count, uint16_t* to) {
  size_t i = 0;
  for (; i + kLane <= count; i += kLane) {
    const __m128i halves = _mm256_cvtps_ph(_mm256_loadu_ps(from + i), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to + i), halves);
  }
  halves_plain(from + i, count - i, to + i);
}

__attribute__((target("avx,f16c"))) void floats_f16c(const uint16_t* from, size_t count, float* to) {
  size_t i = 0;
  for (; i + kLane <= count; i += kLane) {
    _mm256_storeu_ps(to + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i))));
  }
  floats_plain(from + i, count - i, to + i);
}

__attribute__((target("avx"))) __m256d four(const float* at) { return _mm256_cvtps_pd(_mm_loadu_ps(at)); }
__attribute__((target("avx"))) __m256d four(const double* at) { return _mm256_loadu_pd(at); }

// Returns true if no number's error exceeds the largest errors so far. Uses the same arithmetic as measure().
template <class Number>
__attribute__((target("avx"))) bool all_within(const Number* original, const float* rounded, size_t count,
                                               const Loss& loss) {
  constexpr size_t kAtOnce = 4;
  const __m256d sign = _mm256_set1_pd(-0.0);
  const __m256d largest = _mm256_set1_pd(loss.largest_error);
  const __m256d relative = _mm256_set1_pd(loss.largest_relative_error);
  __m256d within = _mm256_castsi256_pd(_mm256_set1_epi32(-1));
  for (size_t i = 0; i < count; i += kAtOnce) {
    const __m256d value = four(original + i);
    const __m256d error = _mm256_andnot_pd(sign, _mm256_sub_pd(four(rounded + i), value));
    const __m256d share = _mm256_mul_pd(relative, _mm256_andnot_pd(sign, value));
    // False for infinities and NaNs, too.
    within = _mm256_and_pd(
        within, _mm256_and_pd(_mm256_cmp_pd(error, largest, _CMP_LE_OQ), _mm256_cmp_pd(error, share, _CMP_LE_OQ)));
  }
  return _mm256_movemask_pd(within) == (1 << kAtOnce) - 1;
}

// Usually returns true once a few tiles have been measured. Returns false for types that it cannot check.
template <class Number>
bool nothing_new(const Number* original, const float* rounded, size_t count, const Loss& loss, HalfBy by) {
  if constexpr (std::is_same_v<Number, long double>) {
    return false;
  } else {
    return kHasF16c && by == HalfBy::best && count == kTile && all_within(original, rounded, count, loss);
  }
}

void halves(const float* from, size_t count, uint16_t* to, HalfBy by) {
  return kHasF16c && by == HalfBy::best ? halves_f16c(from, count, to) : halves_plain(from, count, to);
}

void floats(const uint16_t* from, size_t count, float* to, HalfBy by) {
  return kHasF16c && by == HalfBy::best ? floats_f16c(from, count, to) : floats_plain(from, count, to);
}
#else
template <class Number>
bool nothing_new(const Number*, const float*, size_t, const Loss&, HalfBy) {
  return false;
}
void halves(const float* from, size_t count, uint16_t* to, HalfBy) { halves_plain(from, count, to); }
void floats(const uint16_t* from, size_t count, float* to, HalfBy) { floats_plain(from, count, to); }
#endif

// Measures the loss from `original` to `rounded`. The errors of doubles and floats are exact in double, or nearly so.
template <class Number>
void measure(const Number* original, const float* rounded, size_t count, Loss& loss) {
  for (size_t i = 0; i < count; ++i) {
    const auto value = static_cast<double>(original[i]);
    const double error = std::fabs(static_cast<double>(rounded[i]) - value);
    // False for infinities and NaNs, too.
    if (error <= loss.largest_error && error <= loss.largest_relative_error * std::fabs(value)) continue;
    if (std::isinf(rounded[i]) && std::isfinite(original[i])) ++loss.overflowed;
    if (!std::isfinite(error)) continue;
    loss.largest_error = std::max(loss.largest_error, error);
    if (error > 0) loss.largest_relative_error = std::max(loss.largest_relative_error, error / std::fabs(value));
  }
}

template <class Number>
Loss to_half_of(const std::byte* from, size_t count, std::byte* to, HalfBy by) {
  std::array<Number, kTile> original;
  std::array<float, kTile> in_float;
  std::array<uint16_t, kTile> half;
  Loss loss;
  for (size_t begin = 0; begin < count; begin += kTile) {
    const size_t tile = std::min(kTile, count - begin);
    std::memcpy(original.data(), from + begin * sizeof(Number), tile * sizeof(Number));
    if constexpr (sizeof(Number) == sizeof(float)) {
      std::memcpy(in_float.data(), original.data(), tile * sizeof(float));
    } else {
      for (size_t i = 0; i < tile; ++i) in_float[i] = float_to_odd(original[i]);
    }
    halves(in_float.data(), tile, half.data(), by);
    std::memcpy(to + begin * kHalfBytes, half.data(), tile * kHalfBytes);
    floats(half.data(), tile, in_float.data(), by);
    if (!nothing_new(original.data(), in_float.data(), tile, loss, by)) {
      measure(original.data(), in_float.data(), tile, loss);
    }
  }
  return loss;
}

template <class Number>
void from_half_of(const std::byte* from, size_t count, std::byte* to) {
  std::array<uint16_t, kTile> half;
  std::array<float, kTile> in_float;
  std::array<Number, kTile> numbers;
  std::memset(numbers.data(), 0, sizeof numbers);  // a long double has bytes that its value does not set
  for (size_t begin = 0; begin < count; begin += kTile) {
    const size_t tile = std::min(kTile, count - begin);
    std::memcpy(half.data(), from + begin * kHalfBytes, tile * kHalfBytes);
    floats(half.data(), tile, in_float.data(), HalfBy::best);
    std::copy_n(in_float.begin(), tile, numbers.begin());
    std::memcpy(to + begin * sizeof(Number), numbers.data(), tile * sizeof(Number));
  }
}

}  // namespace

void Loss::add(const Loss& other) {
  largest_error = std::max(largest_error, other.largest_error);
  largest_relative_error = std::max(largest_relative_error, other.largest_relative_error);
  overflowed += other.overflowed;
}

uint16_t half_of(float value) {
  const uint32_t all = std::bit_cast<uint32_t>(value);
  const uint32_t sign = all >> 16 & 0x8000;
  const uint32_t bits = all & 0x7fffffff;
  if (bits > kFloatInfinity) return static_cast<uint16_t>(sign | kHalfInfinity | kQuiet | (bits >> 13 & 0x3ff));
  constexpr uint32_t kOverflow = 0x477ff000;  // 65520: from here on the nearest half is infinite
  if (bits >= kOverflow) return static_cast<uint16_t>(sign | kHalfInfinity);
  constexpr uint32_t kLeastNormal = 0x38800000;  // 2^-14
  if (bits < kLeastNormal) return static_cast<uint16_t>(sign | subnormal_half(bits));
  constexpr uint32_t kCut = 13;                     // bits of float that half lacks
  constexpr uint32_t kRebias = (127u - 15u) << 10;  // difference of their exponents' biases
  const uint32_t last = bits >> kCut & 1;           // last bit that stays: ties go to even
  return static_cast<uint16_t>(sign | (((bits + (1u << (kCut - 1)) - 1 + last) >> kCut) - kRebias));
}

float float_of(uint16_t half) {
  const uint32_t sign = static_cast<uint32_t>(half & 0x8000) << 16;
  const uint32_t exponent = half >> 10 & 0x1f;
  const uint32_t fraction = half & 0x3ff;
  if (exponent == 0) {
    const float magnitude = static_cast<float>(fraction) * 0x1p-24f;
    return std::bit_cast<float>(sign | std::bit_cast<uint32_t>(magnitude));
  }
  if (exponent < 0x1f) return std::bit_cast<float>(sign | (exponent + 127 - 15) << 23 | fraction << 13);
  const uint32_t quiet = fraction != 0 ? 1u << 22 : 0;
  return std::bit_cast<float>(sign | kFloatInfinity | quiet | fraction << 13);
}

Loss to_half(std::span<const std::byte> from, ElementType type, std::span<std::byte> to, HalfBy by) {
  const size_t count = to.size() / kHalfBytes;
  TAILRACE_REQUIRE(from.size() == count * size_of(type));
  switch (type) {
    case ElementType::float32: return to_half_of<float>(from.data(), count, to.data(), by);
    case ElementType::float64: return to_half_of<double>(from.data(), count, to.data(), by);
    case ElementType::long_double: return to_half_of<long double>(from.data(), count, to.data(), by);
    default: TAILRACE_ASSERT(false);
  }
}

void from_half(std::span<const std::byte> from, ElementType type, std::span<std::byte> to) {
  const size_t count = from.size() / kHalfBytes;
  TAILRACE_REQUIRE(to.size() == count * size_of(type));
  switch (type) {
    case ElementType::float32: return from_half_of<float>(from.data(), count, to.data());
    case ElementType::float64: return from_half_of<double>(from.data(), count, to.data());
    case ElementType::long_double: return from_half_of<long double>(from.data(), count, to.data());
    default: TAILRACE_ASSERT(false);
  }
}

}  // namespace tailrace::impl
