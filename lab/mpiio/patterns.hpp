// The patterns, each of which makes the Access of a rank.
//
// All throw UsageError if the shape does not fit the number of ranks.
#pragma once

#include "lab/mpiio/access.hpp"
#include "lab/mpiio/options.hpp"

namespace bench::mpiio {

struct Place {
  uint64_t rank;
  uint64_t ranks;
};

// Each rank has one block.
Access make_contiguous(const Shape& shape, const Place& place);

// The ranks' pieces take turns.
Access make_strided(const Shape& shape, const Place& place);

// MPI-Tile-I/O: a matrix of elements in tiles, one for each rank, without overlap.
Access make_tile(const Shape& shape, const Place& place);

// BT-I/O of the NAS Parallel Benchmarks: a cube of points with five values each, in cells on diagonals. A rank has a
// cell in each layer of cells. In memory each cell has two ghost points at each side. Needs a square number of ranks.
Access make_bt(const Shape& shape, const Place& place);

// Flash-I/O: 24 variables, one call for each. A variable is an array of all ranks' blocks of 8³ cells; in memory a
// block has four guard cells at each side, which are left out.
Access make_flash(const Shape& shape, const Place& place);

// A cube of values, cut at random into a brick for each rank; all ranks cut in the same way. In memory a brick has a
// ghost point at each side.
Access make_bricks(const Shape& shape, const Place& place);

// Many small extents at random distances, in a part of the file of each rank's own.
Access make_extents(const Shape& shape, const Place& place);

Access make_access(const Shape& shape, const Place& place);

}  // namespace bench::mpiio
