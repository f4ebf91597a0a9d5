// statistics_of: least, mean and largest value and a histogram of an array of any element type.
//
// A pure function; the plugin host calls it for the built-in action `statistics`. NaNs and infinities are counted
// separately and ignored otherwise. The histogram equals NumPy's for the same values in float64.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "model/variable.hpp"

namespace tailrace::impl {

inline constexpr size_t kHistogramBins = 64;

struct Statistics {
  uint64_t finite = 0;  // values that enter the rest
  uint64_t nan = 0;
  uint64_t infinite = 0;
  // NaN if no value is finite. Integers of more than 53 bits are rounded, as in float64.
  double least = 0;
  double mean = 0;
  double most = 0;
  // Counts for kHistogramBins equal parts of [least, most], the last one closed at both ends. If all values are
  // equal, the parts divide [least − 0.5, most + 0.5].
  std::array<uint64_t, kHistogramBins> histogram{};
};

// `bytes` contains whole elements of `type`, suitably aligned.
Statistics statistics_of(std::span<const std::byte> bytes, ElementType type);

}  // namespace tailrace::impl
