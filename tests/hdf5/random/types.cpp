#include "types.hpp"

#include <array>
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

}  // namespace

std::span<const MemoryType> memory_types() {
  static const std::array types{number_type<double>(H5T_NATIVE_DOUBLE),
                                number_type<float>(H5T_NATIVE_FLOAT),
                                number_type<int32_t>(H5T_NATIVE_INT32),
                                number_type<int64_t>(H5T_NATIVE_INT64),
                                number_type<uint8_t>(H5T_NATIVE_UINT8),
                                number_type<int16_t>(H5T_NATIVE_INT16),
                                MemoryType{pair_in_memory(), Family::pairs, sizeof(Pair), put_pair, get_pair}};
  return types;
}

std::span<const FileType> file_types() {
  static const std::array types{FileType{H5T_IEEE_F64LE, Family::numbers}, FileType{H5T_IEEE_F32LE, Family::numbers},
                                FileType{H5T_IEEE_F64BE, Family::numbers}, FileType{H5T_STD_I32LE, Family::numbers},
                                FileType{H5T_STD_I32BE, Family::numbers},  FileType{H5T_STD_I64LE, Family::numbers},
                                FileType{H5T_STD_U8LE, Family::numbers},   FileType{H5T_STD_I16LE, Family::numbers},
                                FileType{pair_in_files(), Family::pairs}};
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
