// DataType: how a value of a metric is stored, by its name in the anchor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tailrace::cube {

// Holds each stored integer, and the sums and differences of all of a profile.
__extension__ typedef __int128 Integer;

// A type with which tailrace computes.
struct Number {
  enum class Kind : uint8_t { unsigned_integer, signed_integer, floating };
  enum class Combine : uint8_t { sum, least, greatest };

  Kind kind = Kind::floating;
  uint8_t bytes = 8;
  Combine combine = Combine::sum;  // how a call path's value is combined with those of its children

  bool is_integer() const { return kind != Kind::floating; }
  bool operator==(const Number&) const = default;
};

// Returns the value that changes nothing when it is combined with others, as CubeLib takes for a row that a profile
// leaves out: 0, the greatest double for the least value, and its negative for the greatest one.
double neutral(Number::Combine combine);

struct DataType {
  std::string name;              // as in the anchor, such as "DOUBLE" or "NDOUBLES(3)"
  std::vector<uint8_t> fields;   // bytes of each field of a value; they follow one another without gaps
  std::optional<Number> number;  // none: values of several fields are copied, and nothing is computed of them

  size_t bytes() const;  // of a value
  // Returns false for a name that is no type, and for HISTOGRAM and SCALE_FUNC, whose layout is not public: such
  // values can be neither read nor written.
  bool known() const { return !fields.empty(); }
};

DataType data_type(std::string_view name);

// Copies values of other byte order; `from` and `to` may be the same.
void swap_bytes(const DataType& type, const std::byte* from, size_t values, std::byte* to);

// Converts values of this machine's byte order. An integer above 2^53 is rounded to the nearest double.
void to_doubles(const Number& number, const std::byte* from, size_t values, double* to);
// The type must be an integer.
void to_integers(const Number& number, const std::byte* from, size_t values, Integer* to);
// Returns the decimal digits.
std::string text_of(Integer value);
// Rounds to the nearest integer of the type if it is one; not-a-number becomes 0.
void from_doubles(const Number& number, const double* from, size_t values, std::byte* to);

}  // namespace tailrace::cube
