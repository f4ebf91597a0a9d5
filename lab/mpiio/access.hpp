// Access: what one rank writes in an iteration, for MPI (datatypes), and as plain pieces.
//
// The pieces are computed without MPI's datatypes. The data come from them, so a check of the file also finds
// datatypes that are handled wrongly.
#pragma once

#include <cstdint>
#include <vector>

#include "lab/mpiio/mpi.hpp"

namespace bench::mpiio {

// Bytes that are contiguous in the file and in memory.
struct Piece {
  uint64_t file;  // in the region of an iteration
  uint64_t memory;
  uint64_t bytes;
};

struct Access {
  // The view: one tile of `file` after another, from `displacement` on. The next iteration continues behind it.
  MPI_Datatype etype = MPI_BYTE;
  MPI_Offset displacement = 0;
  Type file;

  // The calls of an iteration. Each writes `count` times `memory`, `memory_step` bytes behind the call before it.
  int calls = 1;
  int count = 1;
  Type memory;
  uint64_t memory_step = 0;
  uint64_t call_bytes = 0;

  uint64_t region = 0;        // bytes of the file for an iteration of all ranks, with holes
  uint64_t memory_bytes = 0;  // bytes of this rank's memory, with gaps
  std::vector<Piece> pieces;

  uint64_t bytes() const { return static_cast<uint64_t>(calls) * call_bytes; }
};

}  // namespace bench::mpiio
