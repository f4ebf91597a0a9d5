// MetricRows: the values of one metric, call path by call path, to be printed and compared: integers as they are
// stored, not rounded to doubles.
#pragma once

#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cube/remap/metric_values.hpp"

namespace tailrace::cube {

class MetricRows {
 public:
  // `values` must live as long as this.
  MetricRows(MetricValues& values, size_t metric, size_t locations)
      : values_(values),
        metric_(metric),
        exact_(values.is_exact(metric)),
        numbers_(exact_ ? 0 : locations),
        integers_(exact_ ? locations : 0) {}

  void read(Flavour flavour, uint32_t path) {
    if (exact_) {
      values_.row(metric_, flavour, path, std::span(integers_));
    } else {
      values_.row(metric_, flavour, path, std::span(numbers_));
    }
  }
  double number(size_t location) const {
    return exact_ ? static_cast<double>(integers_[location]) : numbers_[location];
  }
  // Returns nothing for a number that is no integer.
  std::optional<Integer> integer(size_t location) const {
    if (exact_) return integers_[location];
    constexpr double kMost = 0x1p120;
    const double number = numbers_[location];
    if (!(std::fabs(number) < kMost) || number != std::trunc(number)) return std::nullopt;
    return static_cast<Integer>(number);
  }
  std::string text(size_t location) const {
    if (exact_) return text_of(integers_[location]);
    char text[40];
    return {text, std::to_chars(text, text + sizeof text, numbers_[location]).ptr};
  }

 private:
  MetricValues& values_;
  const size_t metric_;
  const bool exact_;
  std::vector<double> numbers_;
  std::vector<Integer> integers_;
};

}  // namespace tailrace::cube
