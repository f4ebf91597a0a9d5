#include "format/plan/fill_value.hpp"

#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>

#include "base/assert.hpp"
#include "filter/half.hpp"

namespace tailrace::impl {
namespace {

template <class T>
std::vector<std::byte> bytes_of(const T& value, size_t meaning = sizeof(T)) {
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &value, meaning);
  return bytes;
}

template <class T>
std::vector<std::byte> whole(const Number& value) {
  return bytes_of(static_cast<T>(value.whole()));
}

// No number has two parts that are none.
template <class T>
std::vector<std::byte> complex(const Number& value) {
  const T real = static_cast<T>(value.real());
  return bytes_of(std::complex<T>(real, std::isnan(real) ? real : T{0}));
}

std::vector<std::byte> long_double(const Number& value) {
  constexpr size_t kMeaning = std::numeric_limits<long double>::digits == 64 ? 10 : sizeof(long double);
  return bytes_of(static_cast<long double>(value.real()), kMeaning);
}

bool has_nan(ElementType type) {
  switch (type) {
    case ElementType::float16:
    case ElementType::float32:
    case ElementType::float64:
    case ElementType::long_double:
    case ElementType::complex64:
    case ElementType::complex128: return true;
    default: return false;
  }
}

}  // namespace

bool can_be(ElementType type, const Number& value) { return has_nan(type) || !value.is_real(); }

std::vector<std::byte> element_of(ElementType type, const Number& value) {
  switch (type) {
    case ElementType::boolean:
    case ElementType::int8: return whole<int8_t>(value);
    case ElementType::int16: return whole<int16_t>(value);
    case ElementType::int32: return whole<int32_t>(value);
    case ElementType::int64: return whole<int64_t>(value);
    case ElementType::uint8: return whole<uint8_t>(value);
    case ElementType::uint16: return whole<uint16_t>(value);
    case ElementType::uint32: return whole<uint32_t>(value);
    case ElementType::uint64: return whole<uint64_t>(value);
    case ElementType::float16: return bytes_of(half_of(static_cast<float>(value.real())));
    case ElementType::float32: return bytes_of(static_cast<float>(value.real()));
    case ElementType::float64: return bytes_of(value.real());
    case ElementType::long_double: return long_double(value);
    case ElementType::complex64: return complex<float>(value);
    case ElementType::complex128: return complex<double>(value);
  }
  TAILRACE_ASSERT(false);
}

std::optional<Number> value_of_holes(const Variable& variable, ElementType type) {
  if (variable.fill_value || !has_nan(type)) return variable.fill_value;
  return Number(std::numeric_limits<double>::quiet_NaN());
}

}  // namespace tailrace::impl
