#include "cube/cubepl/functions.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>

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

double number_in(std::string_view text) { return std::strtod(std::string(text).c_str(), nullptr); }

std::string text_of_number(double number) {
  char text[40];
  std::snprintf(text, sizeof text, "%.14g", number);
  return text;
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
