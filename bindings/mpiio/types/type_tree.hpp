// TypeTree: an MPI datatype as a tree, which says where its bytes lie (MPI 3.1, §4.1). Pure; it knows no MPI.
//
// A node places copies of its child at displacements. Copies of a type that follow one another lie its extent apart.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

namespace tailrace::mpiio {

struct TypeTree;
using TypePointer = std::shared_ptr<const TypeTree>;

// `count` copies of the child, back to back, from `displacement` on, in bytes.
struct TypeBlock {
  int64_t displacement = 0;
  int64_t count = 0;
};

// The bytes of a predefined type.
struct TypeBytes {
  int64_t displacement = 0;
  uint64_t length = 0;
};

// A child, and where its copies are.
struct TypePart {
  TypePointer child;
  std::vector<TypeBlock> blocks;
  // The blocks come `repeats` times, `stride` bytes apart.
  int64_t repeats = 1;
  int64_t stride = 0;
};

// A predefined type has `bytes`, all others have `parts`.
struct TypeTree {
  std::vector<TypeBytes> bytes = {};
  std::vector<TypePart> parts = {};
  int64_t lower = 0;   // the lower bound, in bytes
  int64_t extent = 0;  // the distance of copies that follow one another, in bytes
};

}  // namespace tailrace::mpiio
