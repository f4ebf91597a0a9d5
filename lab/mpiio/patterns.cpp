// The choice of a pattern, and the simplest ones: contiguous, strided, and extents.
#include "lab/mpiio/patterns.hpp"

#include <random>

namespace bench::mpiio {
namespace {

// One call must not write more than an int counts.
int as_count(uint64_t count) {
  if (count == 0 || count > INT32_MAX) {
    throw UsageError("a rank would have " + std::to_string(count) + " in a call, expected 1 to 2³¹ − 1");
  }
  return static_cast<int>(count);
}

// The memory of one call without gaps.
void set_plain_memory(Access& access, uint64_t bytes) {
  access.count = as_count(bytes);
  access.memory = contiguous(1, MPI_BYTE);
  access.call_bytes = bytes;
  access.memory_bytes = bytes;
}

}  // namespace

Access make_contiguous(const Shape& shape, const Place& place) {
  Access access;
  const uint64_t block = shape.bytes / place.ranks / 4 * 4;
  set_plain_memory(access, block);
  access.region = block * place.ranks;
  access.displacement = static_cast<MPI_Offset>(block * place.rank);
  access.file = resized(contiguous(access.count, MPI_BYTE), static_cast<MPI_Aint>(access.region));
  access.pieces = {{block * place.rank, 0, block}};
  return access;
}

Access make_strided(const Shape& shape, const Place& place) {
  Access access;
  const uint64_t pieces = shape.bytes / place.ranks / shape.piece;
  const uint64_t stride = shape.piece * place.ranks;
  set_plain_memory(access, pieces * shape.piece);
  access.region = pieces * stride;
  access.displacement = static_cast<MPI_Offset>(shape.piece * place.rank);
  access.file = resized(contiguous(as_count(shape.piece), MPI_BYTE), static_cast<MPI_Aint>(stride));
  for (uint64_t i = 0; i < pieces; ++i) {
    access.pieces.push_back({i * stride + shape.piece * place.rank, i * shape.piece, shape.piece});
  }
  return access;
}

Access make_extents(const Shape& shape, const Place& place) {
  Access access;
  set_plain_memory(access, shape.extents * shape.piece);
  // A hole is as large as an extent, on average.
  const uint64_t part = 2 * shape.extents * shape.piece;
  access.region = part * place.ranks;
  std::mt19937_64 dice(shape.seed + place.rank);
  std::vector<MPI_Aint> displacements;
  for (uint64_t i = 0; i < shape.extents; ++i) {
    const uint64_t jump = dice() % (shape.piece / 4 + 1) * 4;
    const uint64_t at = part * place.rank + 2 * i * shape.piece + jump;
    access.pieces.push_back({at, i * shape.piece, shape.piece});
    displacements.push_back(static_cast<MPI_Aint>(at));
  }
  MPI_Datatype type = MPI_DATATYPE_NULL;
  check(MPI_Type_create_hindexed_block(as_count(shape.extents), as_count(shape.piece), displacements.data(), MPI_BYTE,
                                       &type),
        "MPI_Type_create_hindexed_block");
  access.file = resized(Type(type), static_cast<MPI_Aint>(access.region));
  return access;
}

Access make_access(const Shape& shape, const Place& place) {
  switch (shape.pattern) {
    case Pattern::contiguous: return make_contiguous(shape, place);
    case Pattern::strided: return make_strided(shape, place);
    case Pattern::tile: return make_tile(shape, place);
    case Pattern::bt: return make_bt(shape, place);
    case Pattern::flash: return make_flash(shape, place);
    case Pattern::bricks: return make_bricks(shape, place);
    case Pattern::extents: return make_extents(shape, place);
  }
  throw UsageError("no such pattern");
}

}  // namespace bench::mpiio
