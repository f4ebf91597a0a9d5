// Box: a part of a 3-D array of small elements in the file, and its place in memory with ghosts around it.
#pragma once

#include <array>
#include <cstdint>

#include "lab/mpiio/access.hpp"

namespace bench::mpiio {

// Three numbers, the slowest dimension first.
using Three = std::array<uint64_t, 3>;

struct Box {
  Three start;  // in the file's array
  Three size;
};

struct Cube {
  uint64_t edge;      // of the file's array
  uint64_t values;    // doubles of an element
  uint64_t ghosts;    // elements before and behind the box in memory, in each dimension
  Three memory_size;  // elements of a box in memory, with ghosts
};

Type file_type(const Cube& cube, const Box& box);
Type memory_type(const Cube& cube, const Box& box);

// Returns the bytes of a box in memory, with ghosts.
uint64_t memory_bytes(const Cube& cube);

// Adds the box's rows; the box begins at `memory`.
void add_rows(const Cube& cube, const Box& box, uint64_t memory, std::vector<Piece>& pieces);

}  // namespace bench::mpiio
