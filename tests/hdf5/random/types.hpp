// The types that datasets have in files and in memory. Each holds the small numbers of the model exactly, so that
// every conversion between two of a family leaves a number as it was.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstring>
#include <span>

#include "check.hpp"

namespace tailrace::test {

// Numbers of the model are 0 … kNumbers − 1.
constexpr int kNumbers = 100;

enum class Family { numbers, pairs };

// One in memory.
struct MemoryType {
  hid_t id;
  Family family;
  size_t size;  // bytes
  void (*put)(int number, std::byte* to);
  int (*get)(const std::byte* from);  // −1: none of the model
};

struct FileType {
  hid_t id;
  Family family;
};

// Those in memory, and in files; the program's for ever.
std::span<const MemoryType> memory_types();
std::span<const FileType> file_types();
// A type in memory of that family, the `choice`-th modulo how many there are.
const MemoryType& memory_type_of(Family family, size_t choice);

}  // namespace tailrace::test
