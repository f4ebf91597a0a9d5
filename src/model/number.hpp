// Number: the value of a parameter, an integer or a real number. Plain data.
#pragma once

#include <cmath>
#include <concepts>
#include <cstdint>
#include <string>
#include <variant>

namespace tailrace::impl {

class Number {
 public:
  Number() = default;
  template <std::signed_integral T>
  Number(T whole) : value_(int64_t{whole}) {}  // NOLINT(google-explicit-constructor): an integer is a number
  Number(double real) : value_(real) {}        // NOLINT(google-explicit-constructor): so is a real one

  bool is_real() const { return std::holds_alternative<double>(value_); }
  // Requires !is_real().
  int64_t whole() const { return std::get<int64_t>(value_); }
  // Returns the number, whichever kind it is.
  double real() const { return is_real() ? std::get<double>(value_) : static_cast<double>(whole()); }
  bool is_finite() const { return std::isfinite(real()); }
  bool operator==(const Number&) const = default;

 private:
  std::variant<int64_t, double> value_ = int64_t{0};
};

// Returns the number for messages: "12", "0.25".
std::string text_of(const Number& number);

}  // namespace tailrace::impl
