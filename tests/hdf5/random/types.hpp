// The types of datasets in files and in memory. Each represents the small numbers of the model exactly, so every
// conversion between two of a family leaves a number unchanged.
#pragma once

#include <hdf5.h>

#include <cstddef>
#include <cstring>
#include <span>

#include "check.hpp"

namespace tailrace::test {

// The model's numbers are 0 … kNumbers − 1.
constexpr int kNumbers = 100;

// HDF5 has the last three from 2.0 on. Those of `little_complex` are floats in files, as in a compound of their parts
// in memory: HDF5 converts these alone. Those of `eighths` are floats of 8 bits.
enum class Family { numbers, pairs, complex, little_complex, eighths };

// A type in memory.
struct MemoryType {
  hid_t id;
  Family family;
  size_t size;  // bytes
  void (*put)(int number, std::byte* to);
  int (*get)(const std::byte* from);  // −1: not one of the model's numbers
};

struct FileType {
  hid_t id;
  Family family;
};

// Return the types in memory, and in files; they exist for the life of the program.
std::span<const MemoryType> memory_types();
std::span<const FileType> file_types();
// Returns a type in memory of that family, the `choice`-th modulo their number.
const MemoryType& memory_type_of(Family family, size_t choice);

}  // namespace tailrace::test
