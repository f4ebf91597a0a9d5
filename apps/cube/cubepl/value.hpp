// Value: of an expression, for a range of locations: a number or a text for all of them, or a row of numbers.
#pragma once

#include <cstdint>
#include <string_view>

namespace tailrace::cube {

struct Value {
  enum class Kind : uint8_t { unset, number, text, row };

  Kind kind = Kind::unset;
  double number = 0;
  std::string_view text = {};   // lives as long as the evaluation
  const double* row = nullptr;  // so do these; nullptr: unknown (Evaluator::same_for_all)

  static Value of(double number) { return {Kind::number, number, {}, nullptr}; }
  static Value of(std::string_view text) { return {Kind::text, 0, text, nullptr}; }
  static Value of_row(const double* row) { return {Kind::row, 0, {}, row}; }

  bool is_row() const { return kind == Kind::row; }
  bool is_text() const { return kind == Kind::text; }
};

}  // namespace tailrace::cube
