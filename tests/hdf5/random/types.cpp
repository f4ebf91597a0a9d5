#include "types.hpp"

#include <cmath>
#include <cstdint>
#include <vector>

namespace tailrace::test {
namespace {

// A compound, which HDF5 itself converts.
struct Pair {
  double number;
  int32_t opposite;
};

template <class Number>
void put_number(int number, std::byte* to) {
  const auto value = static_cast<Number>(number);
  std::memcpy(to, &value, sizeof value);
}

template <class Number>
int get_number(const std::byte* from) {
  Number value;
  std::memcpy(&value, from, sizeof value);
  return value >= 0 && value < static_cast<Number>(kNumbers) ? static_cast<int>(value) : -1;
}

void put_pair(int number, std::byte* to) {
  const Pair pair{static_cast<double>(number), -number};
  std::memcpy(to, &pair, sizeof pair);
}

int get_pair(const std::byte* from) {
  Pair pair;
  std::memcpy(&pair, from, sizeof pair);
  return pair.number == -pair.opposite && pair.number >= 0 && pair.number < kNumbers ? -pair.opposite : -1;
}

hid_t pair_in_memory() {
  const hid_t type = H5Tcreate(H5T_COMPOUND, sizeof(Pair));
  CHECK(H5Tinsert(type, "number", offsetof(Pair, number), H5T_NATIVE_DOUBLE) >= 0);
  CHECK(H5Tinsert(type, "opposite", offsetof(Pair, opposite), H5T_NATIVE_INT32) >= 0);
  return type;
}

hid_t pair_in_files() {
  const hid_t type = H5Tcreate(H5T_COMPOUND, 12);
  CHECK(H5Tinsert(type, "opposite", 0, H5T_STD_I32BE) >= 0);
  CHECK(H5Tinsert(type, "number", 4, H5T_IEEE_F64LE) >= 0);
  return type;
}

template <class Number>
MemoryType number_type(hid_t id) {
  return {id, Family::numbers, sizeof(Number), put_number<Number>, get_number<Number>};
}

#if H5_VERSION_GE(2, 0, 0)
// The upper half of a float: the model's numbers need no more.
void put_bfloat16(int number, std::byte* to) {
  std::byte value[sizeof(float)];
  put_number<float>(number, value);
  std::memcpy(to, value + 2, 2);
}

int get_bfloat16(const std::byte* from) {
  std::byte value[sizeof(float)]{};
  std::memcpy(value + 2, from, 2);
  return get_number<float>(value);
}

// A complex number, or a compound or an array that HDF5 takes for one. Its parts differ, except those of 0.
template <class Real>
void put_complex(int number, std::byte* to) {
  const Real parts[] = {static_cast<Real>(number), static_cast<Real>(-number)};
  std::memcpy(to, parts, sizeof parts);
}

template <class Real>
int get_complex(const std::byte* from) {
  Real imaginary;
  std::memcpy(&imaginary, from + sizeof imaginary, sizeof imaginary);
  const int number = get_number<Real>(from);
  return imaginary == static_cast<Real>(-number) ? number : -1;
}

template <class Real>
MemoryType complex_type(hid_t id, Family family) {
  return {id, family, 2 * sizeof(Real), put_complex<Real>, get_complex<Real>};
}

hid_t complex_as_array() {
  const hsize_t two = 2;
  return H5Tarray_create2(H5T_NATIVE_FLOAT, 1, &two);
}

hid_t complex_as_compound() {
  const hid_t type = H5Tcreate(H5T_COMPOUND, 2 * sizeof(float));
  CHECK(H5Tinsert(type, "r", 0, H5T_NATIVE_FLOAT) >= 0);
  CHECK(H5Tinsert(type, "i", sizeof(float), H5T_NATIVE_FLOAT) >= 0);
  return type;
}

// Floats of 8 bits hold no large odd numbers, so number n is the value whose bits are n: 4 bits of exponent and 3 of
// mantissa.
double eighth_of(int number) {
  const int mantissa = number % 8;
  return number < 8 ? std::ldexp(mantissa, -9) : std::ldexp(8 + mantissa, number / 8 - 10);
}

template <class Real>
void put_eighth(int number, std::byte* to) {
  const auto value = static_cast<Real>(eighth_of(number));
  std::memcpy(to, &value, sizeof value);
}

template <class Real>
int get_eighth(const std::byte* from) {
  Real value;
  std::memcpy(&value, from, sizeof value);
  for (int number = 0; number < kNumbers; ++number) {
    if (value == static_cast<Real>(eighth_of(number))) return number;
  }
  return -1;
}

void add_new(std::vector<MemoryType>& types) {
  types.push_back({H5T_FLOAT_BFLOAT16LE, Family::numbers, 2, put_bfloat16, get_bfloat16});
  for (const Family family : {Family::complex, Family::little_complex}) {
    types.push_back(complex_type<double>(H5T_NATIVE_DOUBLE_COMPLEX, family));
    types.push_back(complex_type<float>(H5T_NATIVE_FLOAT_COMPLEX, family));
  }
  types.push_back(complex_type<float>(complex_as_array(), Family::little_complex));
  types.push_back(complex_type<float>(complex_as_compound(), Family::little_complex));
  types.push_back({H5T_NATIVE_DOUBLE, Family::eighths, sizeof(double), put_eighth<double>, get_eighth<double>});
  types.push_back({H5T_NATIVE_FLOAT, Family::eighths, sizeof(float), put_eighth<float>, get_eighth<float>});
  types.push_back({H5T_FLOAT_F8E4M3, Family::eighths, 1, put_number<uint8_t>, get_number<uint8_t>});
}

void add_new(std::vector<FileType>& types) {
  types.push_back({H5T_FLOAT_BFLOAT16LE, Family::numbers});
  types.push_back({H5T_FLOAT_BFLOAT16BE, Family::numbers});
  types.push_back({H5T_COMPLEX_IEEE_F64LE, Family::complex});
  types.push_back({H5T_COMPLEX_IEEE_F32BE, Family::complex});
  types.push_back({H5T_COMPLEX_IEEE_F32LE, Family::little_complex});
  types.push_back({H5T_FLOAT_F8E4M3, Family::eighths});
}
#else
template <class Type>
void add_new(std::vector<Type>&) {}
#endif

}  // namespace

std::span<const MemoryType> memory_types() {
  static const std::vector types = [] {
    std::vector all{number_type<double>(H5T_NATIVE_DOUBLE),
                    number_type<float>(H5T_NATIVE_FLOAT),
                    number_type<int32_t>(H5T_NATIVE_INT32),
                    number_type<int64_t>(H5T_NATIVE_INT64),
                    number_type<uint8_t>(H5T_NATIVE_UINT8),
                    number_type<int16_t>(H5T_NATIVE_INT16),
                    MemoryType{pair_in_memory(), Family::pairs, sizeof(Pair), put_pair, get_pair}};
    add_new(all);
    return all;
  }();
  return types;
}

std::span<const FileType> file_types() {
  static const std::vector types = [] {
    std::vector all{FileType{H5T_IEEE_F64LE, Family::numbers}, FileType{H5T_IEEE_F32LE, Family::numbers},
                    FileType{H5T_IEEE_F64BE, Family::numbers}, FileType{H5T_STD_I32LE, Family::numbers},
                    FileType{H5T_STD_I32BE, Family::numbers},  FileType{H5T_STD_I64LE, Family::numbers},
                    FileType{H5T_STD_U8LE, Family::numbers},   FileType{H5T_STD_I16LE, Family::numbers},
                    FileType{pair_in_files(), Family::pairs}};
    add_new(all);
    return all;
  }();
  return types;
}

const MemoryType& memory_type_of(Family family, size_t choice) {
  std::vector<const MemoryType*> all;
  for (const MemoryType& type : memory_types()) {
    if (type.family == family) all.push_back(&type);
  }
  return *all[choice % all.size()];
}

}  // namespace tailrace::test
