#include "cube/archive/data_type.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <type_traits>

namespace tailrace::cube {
namespace {

using Kind = Number::Kind;
using Combine = Number::Combine;

struct Simple {
  std::string_view name;
  Number number;
};

constexpr Simple kSimple[] = {
    {"UINT8", {Kind::unsigned_integer, 1, Combine::sum}},
    {"CHAR", {Kind::unsigned_integer, 1, Combine::sum}},
    {"INT8", {Kind::signed_integer, 1, Combine::sum}},
    {"UINT16", {Kind::unsigned_integer, 2, Combine::sum}},
    {"UNSIGNED SHORT INT", {Kind::unsigned_integer, 2, Combine::sum}},
    {"INT16", {Kind::signed_integer, 2, Combine::sum}},
    {"SHORT INT", {Kind::signed_integer, 2, Combine::sum}},
    {"SIGNED SHORT INT", {Kind::signed_integer, 2, Combine::sum}},
    {"UINT32", {Kind::unsigned_integer, 4, Combine::sum}},
    {"UNSIGNED INT", {Kind::unsigned_integer, 4, Combine::sum}},
    {"INT32", {Kind::signed_integer, 4, Combine::sum}},
    {"INT", {Kind::signed_integer, 4, Combine::sum}},
    {"SIGNED INT", {Kind::signed_integer, 4, Combine::sum}},
    {"UINT64", {Kind::unsigned_integer, 8, Combine::sum}},
    {"UNSIGNED INTEGER", {Kind::unsigned_integer, 8, Combine::sum}},
    {"INT64", {Kind::signed_integer, 8, Combine::sum}},
    {"INTEGER", {Kind::signed_integer, 8, Combine::sum}},
    {"SIGNED INTEGER", {Kind::signed_integer, 8, Combine::sum}},
    {"DOUBLE", {Kind::floating, 8, Combine::sum}},
    {"FLOAT", {Kind::floating, 8, Combine::sum}},  // of 64 bits, in Cube
    {"MINDOUBLE", {Kind::floating, 8, Combine::least}},
    {"MAXDOUBLE", {Kind::floating, 8, Combine::greatest}},
};

// Returns n of NDOUBLES(n); 0 if the name is another one.
unsigned doubles_in(std::string_view name) {
  constexpr std::string_view kPrefix = "NDOUBLES(";
  if (!name.starts_with(kPrefix) || !name.ends_with(')')) return 0;
  name.remove_prefix(kPrefix.size());
  name.remove_suffix(1);
  unsigned count = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), count);
  return error == std::errc() && end == name.data() + name.size() && count <= 4096 ? count : 0;
}

template <typename F>
void with_type(const Number& number, F function) {
  switch (number.kind) {
    case Kind::floating: return function(double{});
    case Kind::signed_integer:
      switch (number.bytes) {
        case 1: return function(int8_t{});
        case 2: return function(int16_t{});
        case 4: return function(int32_t{});
        default: return function(int64_t{});
      }
    default:
      switch (number.bytes) {
        case 1: return function(uint8_t{});
        case 2: return function(uint16_t{});
        case 4: return function(uint32_t{});
        default: return function(uint64_t{});
      }
  }
}

// A value beyond the type's range becomes its limit.
template <typename T>
T nearest(double value) {
  if (std::isnan(value)) return 0;
  const double whole = std::nearbyint(value);
  if (whole <= static_cast<double>(std::numeric_limits<T>::min())) return std::numeric_limits<T>::min();
  if (whole >= static_cast<double>(std::numeric_limits<T>::max())) return std::numeric_limits<T>::max();
  return static_cast<T>(whole);
}

// Added to a number of less than 2^51, it leaves no bits for fractions, so the sum is rounded to a whole number,
// whose lowest bits are those of an integer.
constexpr double kWhole = 0x1.8p52;

// Returns true if no value needs care: none is negative (of an unsigned type), at or beyond the type's limits, or not
// a number. Numbers are compared by their bits: comparisons of floating numbers GCC does not make vectors of.
template <typename T>
bool all_plain(const double* from, size_t values) {
  constexpr bool kLong = sizeof(T) == 8;
  constexpr double kMost = kLong ? 0x1p51 : static_cast<double>(std::numeric_limits<T>::max()) + 0.5;
  constexpr uint64_t kSign = uint64_t{1} << 63;
  constexpr uint64_t kRefused = std::is_unsigned_v<T> ? kSign : 0;
  uint64_t refused = 0;
  for (size_t at = 0; at < values; ++at) {
    const auto bits = std::bit_cast<uint64_t>(from[at]);
    refused |= (bits & kRefused) | (std::bit_cast<uint64_t>(kMost) - 1 - (bits & ~kSign));
  }
  return (refused & kSign) == 0;
}

template <typename T>
void round_values(const double* from, size_t values, std::byte* to) {
  constexpr size_t kBlock = 512;
  for (size_t begin = 0; begin < values; begin += kBlock) {
    const size_t end = std::min(values, begin + kBlock);
    const bool plain = all_plain<T>(from + begin, end - begin);
    for (size_t at = begin; plain && at < end; ++at) {
      const uint64_t bits = std::bit_cast<uint64_t>(from[at] + kWhole) - std::bit_cast<uint64_t>(kWhole);
      const auto whole = static_cast<T>(bits);
      std::memcpy(to + at * sizeof whole, &whole, sizeof whole);
    }
    for (size_t at = begin; !plain && at < end; ++at) {
      const T whole = nearest<T>(from[at]);
      std::memcpy(to + at * sizeof whole, &whole, sizeof whole);
    }
  }
}

template <typename T>
void swap_each(const std::byte* from, size_t values, std::byte* to) {
  for (size_t at = 0; at < values; ++at) {
    T value;
    std::memcpy(&value, from + at * sizeof value, sizeof value);
    if constexpr (sizeof(T) == 2) value = __builtin_bswap16(value);
    if constexpr (sizeof(T) == 4) value = __builtin_bswap32(value);
    if constexpr (sizeof(T) == 8) value = __builtin_bswap64(value);
    std::memcpy(to + at * sizeof value, &value, sizeof value);
  }
}

}  // namespace

size_t DataType::bytes() const { return std::accumulate(fields.begin(), fields.end(), size_t{0}); }

DataType data_type(std::string_view name) {
  for (const Simple& one : kSimple) {
    if (name == one.name) return {std::string(name), {one.number.bytes}, one.number};
  }
  if (name == "COMPLEX" || name == "RATE") return {std::string(name), {8, 8}, std::nullopt};
  if (name == "TAU_ATOMIC") return {std::string(name), {4, 8, 8, 8, 8}, std::nullopt};
  if (const unsigned count = doubles_in(name)) {
    return {std::string(name), std::vector<uint8_t>(count, 8), std::nullopt};
  }
  return {std::string(name), {}, std::nullopt};
}

double neutral(Number::Combine combine) {
  if (combine == Combine::sum) return 0;
  return combine == Combine::least ? std::numeric_limits<double>::max() : std::numeric_limits<double>::lowest();
}

void swap_bytes(const DataType& type, const std::byte* from, size_t values, std::byte* to) {
  const bool uniform =
      std::all_of(type.fields.begin(), type.fields.end(), [&](uint8_t bytes) { return bytes == type.fields[0]; });
  if (uniform) {
    const size_t fields = values * type.fields.size();
    switch (type.fields[0]) {
      case 2: return swap_each<uint16_t>(from, fields, to);
      case 4: return swap_each<uint32_t>(from, fields, to);
      case 8: return swap_each<uint64_t>(from, fields, to);
      default:
        if (from != to) std::memcpy(to, from, fields);
        return;
    }
  }
  for (size_t value = 0; value < values; ++value) {
    for (const uint8_t bytes : type.fields) {
      std::byte field[8];
      std::reverse_copy(from, from + bytes, field);
      std::copy_n(field, bytes, to);
      from += bytes;
      to += bytes;
    }
  }
}

namespace {

template <typename To>
void convert(const Number& number, const std::byte* from, size_t values, To* to) {
  with_type(number, [&](auto zero) {
    using T = decltype(zero);
    for (size_t at = 0; at < values; ++at) {
      T value;
      std::memcpy(&value, from + at * sizeof value, sizeof value);
      to[at] = static_cast<To>(value);
    }
  });
}

}  // namespace

void to_doubles(const Number& number, const std::byte* from, size_t values, double* to) {
  convert(number, from, values, to);
}

void to_integers(const Number& number, const std::byte* from, size_t values, Integer* to) {
  convert(number, from, values, to);
}

std::string text_of(Integer value) {
  std::string text;
  for (Integer rest = value; rest != 0 || text.empty(); rest /= 10) {
    const int digit = static_cast<int>(rest % 10);
    text += static_cast<char>('0' + (digit < 0 ? -digit : digit));
  }
  if (value < 0) text += '-';
  std::reverse(text.begin(), text.end());
  return text;
}

void from_doubles(const Number& number, const double* from, size_t values, std::byte* to) {
  if (number.kind == Kind::floating) {
    std::memcpy(to, from, values * sizeof *from);
    return;
  }
  with_type(number, [&](auto zero) {
    using T = decltype(zero);
    if constexpr (std::is_integral_v<T>) round_values<T>(from, values, to);
  });
}

}  // namespace tailrace::cube
