#include "cube/cubepl/functions.hpp"

#include <locale.h>
#include <stdlib.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <system_error>

namespace tailrace::cube {
namespace {

char lower(char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + ('a' - 'A')) : letter; }
char upper(char letter) { return letter >= 'a' && letter <= 'z' ? static_cast<char>(letter - ('a' - 'A')) : letter; }

// Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014.
uint64_t mixed(uint64_t bits) {
  bits += 0x9e3779b97f4a7c15;
  bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
  bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
  return bits ^ (bits >> 31);
}

}  // namespace

double function_value(Function function, double x) {
  switch (function) {
    case Function::abs: return std::fabs(x);
    case Function::acos: return std::acos(x);
    case Function::acot: return x == 0 ? std::acos(0.0) : std::atan(1 / x);
    case Function::asin: return std::asin(x);
    case Function::atan: return std::atan(x);
    case Function::ceil: return std::ceil(x);
    case Function::cos: return std::cos(x);
    case Function::cot: return std::tan(x) == 0 ? 0 : 1 / std::tan(x);
    case Function::exp: return std::exp(x);
    case Function::floor: return std::floor(x);
    case Function::ln: return std::log(x);
    case Function::neg: return x < 0 ? x : 0;
    case Function::pos: return x > 0 ? x : 0;
    case Function::sgn: return x > 0 ? 1 : (x < 0 ? -1 : 0);
    case Function::sin: return std::sin(x);
    case Function::sqrt: return std::sqrt(x);
    case Function::tan: return std::tan(x);
    default: return 0;
  }
}

double random_number(uint64_t seed, uint64_t stream) {
  return static_cast<double>(mixed(mixed(seed) ^ stream) >> 11) * 0x1.0p-53;
}

// No locale has a part in it, and the letters of "nan", "inf" and "0x1" are none of a number.
double number_in(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t\n\v\f\r"), text.size()));
  const bool negative = text.starts_with('-');
  if (negative || text.starts_with('+')) text.remove_prefix(1);
  const std::string_view first = text.starts_with('.') ? text.substr(1) : text;
  if (first.empty() || first[0] < '0' || first[0] > '9') return 0;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error == std::errc::result_out_of_range) {  // it does not say on which side
    static const locale_t kPlain = newlocale(LC_ALL_MASK, "C", nullptr);
    number = strtod_l(std::string(text.data(), end).c_str(), nullptr, kPlain);
  }
  return negative ? -number : number;
}

std::string text_of_number(double number) {
  if (std::isnan(number)) return "nan";
  char text[40];
  return {text, std::to_chars(text, text + sizeof text, number, std::chars_format::general, 14).ptr};
}

std::string lowercase(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), lower);
  return result;
}

std::string uppercase(std::string_view text) {
  std::string result(text);
  std::transform(result.begin(), result.end(), result.begin(), upper);
  return result;
}

bool same_in_any_case(std::string_view left, std::string_view right) {
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](char one, char other) { return lower(one) == lower(other); });
}

}  // namespace tailrace::cube
